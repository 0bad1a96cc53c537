"""The event that ends the office hours of pools and begins them again, with the real autoscaler."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from components.contract import autoscaler
from components.contract.groups import NodeGroup
from components.contract.pool_size import PoolSize
from workbench.rehearsal.cluster.nodes import autoscaler_maps
from workbench.rehearsal.play.agenda import Steps
from workbench.rehearsal.play.site import Site
from workbench.rehearsal.record import Night
from workbench.rehearsal.scenario.events import OfficeHoursEnd


def office_hours_end(site: Site, event: OfficeHoursEnd) -> Steps:
    """Lower the minimum of each pool with office hours, and raise it again after a night.

    Only bounds change: the autoscaler removes nodes once they are empty, and adds the minimum in the morning, as an
    Auto Scaling group does. The autoscaler reads bounds when it starts, so the control plane restarts it, and its
    waiting times start again; a cloud's autoscaler reads them at most a minute later instead. Under Karpenter, the
    nodes of the minimum are not Karpenter's own, so they stay.
    """
    if site.cluster.scaler.is_karpenter:
        site.chronicle.happened(event.event, "no office hours under Karpenter, which has no minimum")
        return
    groups = list(site.cluster.config.groups)
    _set(site, map(_by_night, groups))
    nights = site.chronicle.nights
    nights.append(Night(site.clock.now))
    site.chronicle.happened(event.event, f"the hours end: {_shown(map(_by_night, groups))}")
    yield event.lasts
    _set(site, groups)
    nights[-1] = replace(nights[-1], end=site.clock.now)
    site.chronicle.happened(event.event, f"the hours begin: {_shown(groups)}")


def _by_night(group: NodeGroup) -> NodeGroup:
    if not group.hours:
        return group
    return replace(group, size=PoolSize(min=group.hours.night_min, max=group.size.max))


def _set(site: Site, groups: Iterable[NodeGroup]) -> None:
    cluster = site.cluster
    for name, data in autoscaler_maps(cluster.config, cluster.pace, groups).items():
        metadata = {"name": name, "namespace": autoscaler.NAMESPACE}
        cluster.api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def _shown(groups: Iterable[NodeGroup]) -> str:
    return ", ".join(_minimums(groups))


def _minimums(groups: Iterable[NodeGroup]) -> Iterator[str]:
    for group in groups:
        if group.hours:
            yield f"{group.name} has at least {group.size.min}"
