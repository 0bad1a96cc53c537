"""Hints about volumes, which exist in one zone.

The scheduler says ``node(s) didn't match PersistentVolume's node affinity`` (kubernetes v1.36.3,
``pkg/scheduler/framework/plugins/volumebinding/binder.go``; ``had volume node affinity conflict`` before 1.33) or
``node(s) had no available volume zone`` (``volumezone/volume_zone.go``).
"""

from collections.abc import Iterator
from typing import Final

from infra.config.problems import did_you_mean
from workbench.rehearsal.scenario.files import zones_of
from workbench.rehearsal.verdicts.miss import Finders, Miss, named
from workbench.rehearsal.verdicts.specs import ZONE_KEYS, demands
from workbench.rehearsal.verdicts.verdict import Hint
from workbench.report.words import count

_CONFLICTS: Final = (
    "PersistentVolume's node affinity",
    "volume node affinity conflict",
    "no available volume zone",
    "didn't find available persistent volumes to bind",
)


def zones(miss: Miss) -> Iterator[Hint]:
    """Recognise that the volume is in a zone in which no node can start, or that the autoscaler does not know."""
    conflicts = {pod.uid for pod, _ in miss.said(*_CONFLICTS)}
    for pod in miss.shapes:
        work = miss.scenario.works.get(pod.work)
        of_volume = work.volume.zone if work and work.volume else None
        selected = next((values[0] for key in ZONE_KEYS if (values := demands(pod.spec).get(key))), None)
        zone = of_volume or selected
        if pod.uid not in conflicts and not (zone and pod.node is None):
            continue
        is_of_volume = bool(work and work.volume) and (of_volume or not selected)
        path = miss.field(pod.work, "volume.zone" if is_of_volume else "nodeSelector")
        of_cluster = zones_of(miss.config)
        if zone and of_cluster and zone not in of_cluster:
            cause = f"{named(pod)} must run in zone {zone}, and the zones of the cluster are {', '.join(of_cluster)}"
            cause += did_you_mean(zone, of_cluster) or "."
            yield Hint(cause=cause, action=f"Use {of_cluster[0]}, or name no zone.", path=path)
            yield Hint(cause=cause, action="Add the zone to the cluster.", path="cluster.zones")
            continue
        groups = miss.open_groups(pod)
        known = sorted({group.zone for group in groups if group.zone})
        spanning = [group for group in groups if group.zone is None and group.is_elastic]
        if zone and known and zone not in known and not spanning:
            pool = groups[0].pool
            yield Hint(
                cause=f"{named(pod)} must run in zone {zone}, and its pools have nodes in {', '.join(known)} only.",
                action=f"Create the volume in {known[0]}, or add zone {zone} to the cluster.",
                path=path,
            )
            yield Hint(
                cause=f"Pool {pool} has no group in zone {zone}: its nodes are divided among {', '.join(known)}.",
                action=f"Add zone {zone} to the cluster, and at least one node for each zone to size.max.",
                path=f"pools.{pool}.size.max",
            )
        elif spanning:
            pool = spanning[0].pool
            empty = "" if spanning[0].min else " and may be empty"
            yield Hint(
                cause=f"The groups of pool {pool} span several zones{empty}: the autoscaler assumes one zone for the "
                f"next node, so it does not start one where the volume of {named(pod)} is"
                + (f", {zone}." if zone else "."),
                action="Set zonal: true, so that each zone has a group of its own.",
                path=f"pools.{pool}.zonal",
            )
        elif zone and (full := [group for group in groups if group.zone == zone]):
            yield Hint(
                cause=f"{named(pod)} must run in zone {zone}, where pool {full[0].pool} has at most "
                f"{count(full[0].max, 'node')}.",
                action="Raise size.max, which is divided among the zones.",
                path=f"pools.{full[0].pool}.size.max",
            )
        elif pod.uid in conflicts:
            yield Hint(
                cause=f"No node is in the zone of {named(pod)}'s volume" + (f", {zone}." if zone else "."),
                action="Create the volume in a zone of the stack, or without a zone.",
                path=path,
            )


FINDERS: Final[Finders] = (zones,)
