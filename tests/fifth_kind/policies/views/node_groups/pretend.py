"""Node groups of the pretended cloud."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Final

from typing_extensions import override

from components.contract.environments import ClusterKind
from components.contract.pretend.spelling import SPELLING
from components.contract.taints import Taint
from policies.resource import Resource, Stack
from policies.rule import Finding
from policies.values import Value
from policies.views.node_groups.cloud_types import CloudTypes
from policies.views.node_groups.facts import NodeGroupFacts
from policies.views.node_groups.spelled import SpelledGroup

GROUP: Final = "pretend:containers:Group"


class PretendGroup(SpelledGroup):
    """One group."""

    kind: ClassVar = ClusterKind.PRETEND
    spelling: ClassVar = SPELLING
    is_scaled_elsewhere: ClassVar = True

    @property
    @override
    def size_min(self) -> int | None:
        return self._props.at("least").integer()

    @property
    @override
    def size_max(self) -> int | None:
        return self._props.at("most").integer()

    @property
    @override
    def instance_types(self) -> tuple[str, ...]:
        return tuple(each.text() or "" for each in self._props.at("machines").elements())

    @override
    def _desired(self) -> Value:
        return self._props.at("size")

    @override
    def _taints(self) -> list[Callable[[], Taint | None]]:
        return [lambda entry=entry: _taint(entry) for entry in self.taint_entries()]


def _taint(entry: Value) -> Taint:
    key, _, rest = (entry.text() or "").partition("=")
    value, _, effect = rest.partition(":")
    return Taint(key, value, PretendGroup.effects()[effect])


def _find(resource: Resource) -> Iterator[PretendGroup]:
    yield PretendGroup(resource, resource.props)


def _disks(resource: Resource) -> Iterator[tuple[str, tuple[Value, ...]]]:
    yield "disks", (resource.props.at("diskTags"),)


def _public_addresses(resource: Resource) -> Iterator[tuple[str, str]]:
    if resource.props.at("isPublic").flag():
        yield f"Group '{resource.name}'", "isPublic"


def _data_risks(groups: Sequence[NodeGroupFacts], _: Stack) -> Iterator[Finding]:
    for group in groups:
        if group.props.at("sleepsAtNight").flag():
            yield Finding(f"{group} sleeps at night.", urn=group.resource.urn)


TYPES: Final = CloudTypes(
    group=GROUP,
    view=PretendGroup,
    finders={GROUP: _find},
    cluster_input="cluster",
    clusters=("pretend:containers:Cluster",),
    keys=("pretend:keys:Key",),
    networks=(),
    disks=(),
    logs=(),
    tagged=("pretend:networks:Network",),
    tagged_parts={GROUP: _disks},
    public_addresses={GROUP: _public_addresses},
    data_risks=_data_risks,
)
