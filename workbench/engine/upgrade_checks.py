"""Checks a change against the live cluster, which the program itself cannot see.

Pure functions of the components in a refreshed state, their conditions in the cloud, and the stack file.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from components.contract.kubernetes_minors import SKEW_MAX
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions, Group, Sizes, condition, minor
from workbench.engine.clouds.way_back import WayBack, goes_back, is_newer
from workbench.engine.cluster_components import cluster_of


@dataclass(frozen=True)
class Judgement:
    """Result of checking a change.

    Parameters
    ----------
    blockers
        Reasons to refuse the change; empty if it may proceed.
    to_recreate
        Components that have failed for good and can be recreated without losing data.
    earlier_runs
        Components to change first, one run of the engine per tuple. Empty if a group is recreated.
    notes
        Problems that do not block the change, and that it may fix.
    """

    blockers: tuple[Blocker, ...] = ()
    to_recreate: tuple[ClusterComponent, ...] = ()
    earlier_runs: tuple[tuple[ClusterComponent, ...], ...] = ()
    notes: tuple[str, ...] = ()


def judge(
    cloud: Cloud,
    components: Sequence[ClusterComponent],
    conditions: Conditions,
    way_back: Callable[[], WayBack] = WayBack,
) -> Judgement:
    """Check a change to the stack file's settings.

    Parameters
    ----------
    cloud
        The stack's cloud, with its stack file.
    components, conditions
        The live components from a refreshed state, and their conditions in the cloud.
    way_back
        Queries the cloud for the rollback that is possible; called if the stack file lowers a version. Default: no
        rollback is possible.
    """
    cluster = cluster_of(components)
    if not cluster:
        return Judgement()
    declared = cloud.groups
    lost = [component for component in components if condition(component, conditions).is_lost]
    groups = [component for component in components if isinstance(component, Group)]
    healthy = [group for group in groups if group not in lost]
    rises = _is_older(cluster, cloud.version)
    # Also while a group is behind: the previous run may have stopped between the add-ons.
    is_upgrade = rises or any(
        _is_older(group, cloud.node_version) for group in healthy if group.is_resource and not group.keeps_version
    )
    to_recreate = tuple(
        component
        for component in lost
        if component.is_recreatable and (not isinstance(component, Group) or component.program_name in declared)
    )
    # A run that skips a lost group fails with the program's own error, so then there is only a single run.
    in_several_runs = not any(isinstance(component, Group) for component in to_recreate)
    existing = [component for component in components if component not in lost]
    back = way_back() if goes_back(existing, cloud.version, cloud.node_version) else WayBack()
    is_rollback = is_newer(cluster, cloud.version) and back.version == cloud.version
    return Judgement(
        blockers=(
            *cloud.back_blockers(existing, back),
            *_upgrade(cluster, groups, cloud),
            *(blocker for group in healthy for blocker in _sizes(group, cloud, rolls=_rolls(group, cloud, cluster))),
            *cloud.blockers(existing),
            *(blocker for component in components for blocker in _condition(component, conditions)),
        ),
        to_recreate=to_recreate,
        earlier_runs=cloud.earlier_runs(existing, is_upgrade=is_upgrade, is_rollback=is_rollback)
        if in_several_runs
        else (),
        notes=(
            *(note for component in components for note in _notes(component, conditions)),
            *cloud.notes(existing),
            *(f"Before the rollback, {cloud.service} reports: {warning}." for warning in back.warnings),
        ),
    )


def _is_older(component: ClusterComponent, version: str) -> bool:
    return bool(component.version) and minor(component.version) < minor(version)


def _upgrade(cluster: ClusterComponent, groups: Sequence[Group], cloud: Cloud) -> Iterator[Blocker]:
    live, target = minor(cluster.version), minor(cloud.version)
    if not live:
        return
    if target > live + 1:
        yield Blocker(
            "cluster.version",
            f"{cloud.version}, but the {cluster} runs {cluster.version}",
            f"{cloud.service} accepts {cluster.version} or 1.{live + 1}",
            f"Set it to 1.{live + 1} and run `up`, then continue one minor version at a time.",
        )
    # Compare nodes with the control plane as it would be after this change.
    reached = min(max(target, live), live + 1)
    nodes = min(reached, minor(cloud.node_version))
    for group in groups:
        behind, steps = reached - minor(group.version), nodes - minor(group.version)
        if group.version and behind > SKEW_MAX:
            yield Blocker(
                "cluster.version",
                f"1.{reached} would leave the {group} on {group.version}, {behind} minor versions behind",
                f"nodes may be at most {SKEW_MAX} minor versions behind the control plane",
                _catch_up(group, live),
            )
        elif group.version and steps > 1 and _is_brought_along(group, cloud):
            yield Blocker(
                "cluster.version",
                f"1.{nodes} would upgrade the {group} from {group.version} by {steps} minor versions at once",
                f"{cloud.service} upgrades by one at a time",
                f"{group.upgrade(f'1.{nodes - 1}')}, then run `up` again.",
            )


def _is_brought_along(group: Group, cloud: Cloud) -> bool:
    """Return whether the program itself upgrades a group, and only by one minor version."""
    is_programs = group.is_resource and not group.keeps_version and group.program_name in cloud.groups
    return is_programs and not group.may_skip_minors


def _catch_up(group: Group, live: int) -> str:
    if group.holds_data:
        return (
            "Its nodes hold data and are not upgraded automatically: replicate the data elsewhere, then "
            f"{group.upgrade(f'1.{live}')}, one zone at a time."
        )
    if group.keeps_version:
        return (
            "It is not upgraded, because its nodes are of a capacity block: remove its pool, now or after the end of "
            f"the block, and run `up` with cluster.version at 1.{live}."
        )
    if not (group.is_resource and group.may_skip_minors):
        return f"Upgrade its nodes by hand: {group.upgrade(f'1.{live}')}."
    return f"Set it to 1.{live} and run `up`, which upgrades the nodes to the control plane's version."


def _rolls(group: Group, cloud: Cloud, cluster: ClusterComponent) -> bool:
    """Return whether the change replaces the nodes of a group."""
    if group.keeps_version:
        return False
    with_cluster = _is_older(cluster, cloud.version) and cloud.node_version == cloud.version
    return with_cluster or _is_older(group, cloud.node_version) or is_newer(group, cloud.node_version)


def _sizes(live: Group, cloud: Cloud, *, rolls: bool) -> Iterator[Blocker]:
    """Yield blockers for bounds that the cloud would refuse, or that would terminate nodes in use.

    The autoscaler owns the size of an elastic group; every change sends the live size, so new bounds must contain it.
    """
    declared, sizes = cloud.groups.get(live.program_name), live.sizes
    if declared is None or sizes is None:
        return
    low, size, high = sizes.low, sizes.size, sizes.high
    where = f"pools.{declared.pool}.size"
    if declared.is_elastic and declared.size.min > size and not declared.hours:  # a schedule sets that minimum
        yield Blocker(
            where,
            f"the {live} has {size} nodes, and min would be {declared.size.min}",
            f"at most {size} now: {cloud.service} requires the size to be within the bounds, and the autoscaler owns "
            "the size",
            _grow(live, sizes, declared.size.min),
        )
    is_stack_files = not sizes.is_elastic and not declared.is_elastic  # only the stack file sets it
    if declared.size.max < size and (live.holds_data or not is_stack_files):
        yield Blocker(
            where,
            f"the {live} has {size} nodes, and max would be {declared.size.max}",
            f"at least {size} now: pods on the removed nodes would be terminated",
            _shrink(live, sizes, declared.size.max, cloud),
        )
    if (
        rolls
        and declared.is_elastic
        and (low, high) != (low if declared.hours else declared.size.min, declared.size.max)
    ):
        yield Blocker(
            where,
            f"the bounds of the {live} change from {low}..{high} to {declared.size} together with their version",
            "change one of the two at a time: the autoscaler may resize the group during the long upgrade, and the "
            "outdated size would then be sent",
            f"Leave the bounds at {low}..{high} until the upgrade is done.",
        )


def _grow(group: Group, sizes: Sizes, low: int) -> str:
    if not sizes.is_elastic:
        return "Its size is fixed: set max to the same number as min and run `up`, then set max and run `up` again."
    return f"{group.resize(sizes.low, max(sizes.high, low), low)}, then run `up` again."


def _shrink(group: Group, sizes: Sizes, high: int, cloud: Cloud) -> str:
    if group.holds_data:
        return f"Data nodes are never scaled in: move the data, then remove the pool deliberately ({cloud.page})."
    drain = "rain the surplus nodes (`kubectl drain`); the autoscaler removes empty ones. Once"
    if sizes.low <= high:
        return f"D{drain} {high} or fewer are left, run `up` again."
    return (
        f"The autoscaler removes none of its first {sizes.low} nodes: lower min only, leave max and run `up`. "
        f"Then d{drain} {high} or fewer are left, lower max and run `up` again."
    )


def _condition(component: ClusterComponent, conditions: Conditions) -> Iterator[Blocker]:
    current = condition(component, conditions)
    if current.is_moving:
        what = f"is {current.status}: another run, or one that was killed, is changing it"
        step = "Wait until it is done, then run the command again."
        yield Blocker(str(component), what, f"changes are accepted when it is {current.active}", step)
    elif current.is_lost and not component.is_recreatable:
        why = "; ".join(current.issues) or f"{component.service} reports no cause"
        yield Blocker(
            str(component),
            f"is {current.status}: {why}",
            "it is not recreated automatically",
            _step_when_lost(component),
        )


def _step_when_lost(component: ClusterComponent) -> str:
    if isinstance(component, Group):
        return (
            f"It may hold the only copy of its data. If it does not: {component.delete}, wait until it is deleted, and "
            "run `up` again."
        )
    return (
        f"A failed control plane does not recover. Run {component.look}, fix the cause, then `igz-clusters destroy` "
        "and `up`; if it holds workloads, contact the cloud's support first."
    )


def _notes(component: ClusterComponent, conditions: Conditions) -> Iterator[str]:
    current = condition(component, conditions)
    if current.is_in_order or current.is_moving or (current.is_lost and not component.is_recreatable):
        return
    why = f": {'; '.join(current.issues)}" if current.issues else ""
    rest = ". It will be recreated" if current.is_lost else ""
    yield f"The {component} is {current.status}{why}{rest}."
