"""The provider that the engine starts for the package."""

import json
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

import pulumi
from google.protobuf.struct_pb2 import Struct
from pulumi.errors import InputPropertiesError
from pulumi.provider import ConstructResult, Provider, server
from typing_extensions import override

from components.contract.component_package import CLUSTER_TYPE, PACKAGE
from components.contract.environments import ClusterKind
from components.contract.existing.config import ExistingConfig
from components.contract.local.config import LocalConfig
from components.contract.policy_choices import component_choices
from components.contract.policy_guard import PolicyGuard, guard_of, strictest
from components.stack_files.settings_of_the_run import stack_choices
from infra.config import ConfigurationError, StackConfig, parse
from infra.package.inputs import plain_inputs
from infra.package.schema import SCHEMA
from infra.run_facts import RunRefusedError, demand_the_guard, run_facts


class ClustersProvider(Provider):
    """Builds the component of the package; one process serves one update or preview of a stack."""

    def __init__(self) -> None:
        text = SCHEMA.read_text(encoding="utf-8")
        super().__init__(json.loads(text)["version"], text)
        self._name = ""
        """Name of the component that was built; empty before that."""

    @override
    def construct(
        self, name: str, resource_type: str, inputs: Any, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        """Build a component from plain inputs.

        Raises
        ------
        InputPropertiesError
            With all messages that a stack file of these settings would get; or because the run must not go on.
        """
        if resource_type != CLUSTER_TYPE:
            _refuse([f"unknown type {resource_type} (allowed: {CLUSTER_TYPE})"])
        if self._name:
            _refuse([f"the program has a cluster already, '{self._name}', and a stack has one; make a stack for each"])
        try:
            config = parse(inputs)
            facts = run_facts(config, _way(config))
            demand_the_guard(_guard(inputs, config), _way(config))
        except ConfigurationError as error:
            _refuse([str(problem) for problem in error.problems])
        except RunRefusedError as error:
            _refuse([str(error)])
        given = options.providers if options and isinstance(options.providers, Mapping) else {}
        if unused := sorted(given.keys() - {PACKAGE}):
            pulumi.log.warn(
                f"{name}: makes its own providers and does not use those that it was given: {', '.join(unused)}"
            )
        self._name = name
        # Imported here so that a mistake is reported before the SDKs of Kubernetes and the cloud are loaded.
        from infra.package.cluster import Cluster  # noqa: PLC0415

        cluster = Cluster(name, inputs, config, facts, options)
        return ConstructResult(cluster.urn, cluster.outputs)


def _guard(inputs: Mapping[str, Any], config: StackConfig) -> PolicyGuard:
    """Return the stricter guard of the inputs and of the stack file, which the packs read in the same way.

    The engine passes the whole configuration of the stack to a component: ``resource/deploy/source_eval.go``.
    """
    chosen = component_choices(inputs, stack_choices())
    return strictest(config.policy_guard, guard_of(chosen, ClusterKind(config.cluster.kind)))


def _way(config: StackConfig) -> str:
    if isinstance(config.cluster, LocalConfig | ExistingConfig):
        return f'Run `eval "$(igz-clusters env {pulumi.get_stack()})"` in the folder of the stack file first.'
    return "Attach the policy packs as docs/component-package.md shows."


def _refuse(problems: list[str]) -> NoReturn:
    """Raise an error that the engine shows without a traceback.

    The problems are text, not the error's list of properties: for each of those the engine shows the whole value, which
    may be a secret.
    """
    head = f"{len(problems)} problems\n" if len(problems) > 1 else ""
    raise InputPropertiesError(head + "\n".join(problems), [])


class Servicer(server.ProviderServicer):
    """The SDK's servicer, with plain inputs: the SDK's own lets a provider neither wait for outputs nor see secrets."""

    @staticmethod
    @override
    async def _construct_inputs(inputs: Struct, input_dependencies: Any) -> dict[str, Any]:
        try:
            return plain_inputs(inputs)
        except ConfigurationError as error:
            _refuse([str(problem) for problem in error.problems])


def serve() -> None:
    """Serve the package to the engine that started this process; never returns."""
    server.ProviderServicer = Servicer  # type: ignore[misc] # the SDK has no parameter for it
    server.main(ClustersProvider(), sys.argv[1:])
