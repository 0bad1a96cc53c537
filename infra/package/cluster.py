"""The component that programs in other languages declare."""

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from components.base import PlatformComponent
from components.contract.component_package import CLUSTER_TYPE
from infra.config import StackConfig
from infra.program import declare
from infra.run_facts import RunFacts

OUTPUTS: Final = {
    "cluster": "facts",
    "pools": "groups",
    "namespaces": "namespaceNames",
}
"""Names of the component's outputs whose names in a stack are those of inputs here; the others are the same."""


class Cluster(PlatformComponent):
    """A cluster and its contents: everything that a stack file of the same settings declares, with the same names."""

    outputs: Mapping[str, pulumi.Input[Any]]

    def __init__(
        self,
        name: str,
        document: Mapping[str, Any],
        config: StackConfig,
        facts: RunFacts,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        # The policy packs read the settings from these inputs.
        super().__init__(CLUSTER_TYPE, name, document, opts)
        declared = declare(config, facts, owner=self)
        self.outputs = {OUTPUTS.get(key, key): value for key, value in declared.items()}
        self.register_outputs(dict(self.outputs))
