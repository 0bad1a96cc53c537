"""What the pretended cloud has to say about changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from components.contract.pretend.config import PretendConfig
from workbench.engine.clouds.cloud import CloudStack, ErrorCodes
from workbench.engine.clouds.cluster_component import ClusterComponent, Condition, Group


class PretendCondition(Condition):
    """Always in order."""

    active = ""
    is_moving = is_lost = may_pass = False


@dataclass(frozen=True)
class Pretend(CloudStack):
    """A stack in the pretended cloud."""

    place = "Pretend"
    service = "PKS"
    page = "docs/pretend.md"
    new_session = "`pretend login`"
    ways_in = "a VPN"
    no_way_back = ""

    group_label = "pretend/group"
    errors = ErrorCodes(expired="PretendExpired", in_use="PretendInUse")

    choices: PretendConfig


class PretendGroup(Group):
    """One group."""

    service = "PKS"
    noun = "group"
    on_cluster_deletion = "it deletes them"
    replaced_by = ()
    cluster = version = look = step = delete = ""
    labels: Mapping[str, str] = {}
    sizes = None
    condition = PretendCondition("")

    @property
    @override
    def name(self) -> str:
        return str(self.outputs["called"])

    @override
    def upgrade(self, version: str) -> str:
        return ""

    @override
    def resize(self, low: int, high: int, size: int) -> str:
        return ""


def components(
    urn: str, type_: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> Iterator[ClusterComponent]:
    """Return the group that a resource is."""
    if type_ == "pretend:containers:Group":
        yield PretendGroup(urn, type_, inputs, outputs)
