"""Node groups of the pretended cloud."""

from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from typing_extensions import override

from components.contract.environments import ClusterKind
from components.contract.pretend.spelling import SPELLING
from components.contract.taints import Taint
from policies.resource import Resource
from policies.values import Value
from policies.views.node_groups.cloud_types import CloudTypes
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


TYPES: Final = CloudTypes(
    group=GROUP,
    view=PretendGroup,
    finders={GROUP: _find},
    clusters=("pretend:containers:Cluster",),
    keys=("pretend:keys:Key",),
    networks=(),
    disks=(),
    logs=(),
)
