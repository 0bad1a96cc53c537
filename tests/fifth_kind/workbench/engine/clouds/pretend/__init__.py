"""What the pretended cloud has to say about changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from components.contract.groups import NodeGroup
from components.contract.pretend.config import PretendConfig
from infra.config import StackConfig
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent


@dataclass(frozen=True)
class Pretend(Cloud):
    """A stack in the pretended cloud."""

    place = "Pretend"
    service = "PKS"
    page = "docs/pretend.md"
    new_session = "`pretend login`"
    ways_in = "a VPN"
    no_way_back = ""

    stack: str
    config: StackConfig
    choices: PretendConfig

    @property
    @override
    def version(self) -> str:
        return self.choices.version

    @property
    @override
    def groups(self) -> Mapping[str, NodeGroup]:
        return {f"{self.stack}-{group.name}": group for group in self.config.groups}

    @override
    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        return ()


def components(_: str, __: str, ___: Mapping[str, Any], ____: Mapping[str, Any]) -> Iterator[ClusterComponent]:
    """Return the cluster components in a resource."""
    return iter(())
