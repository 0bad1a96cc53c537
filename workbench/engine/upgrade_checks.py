"""What a change of a cluster in a cloud must not ask for, judged by what is live: the program itself cannot see it.

Everything here is pure. It takes the parts of a refreshed state, the cloud's word about each, and what the stack file
asks for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from components.contract.groups import NodeGroup
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions, Group, condition, minor
from workbench.engine.cluster_components import cluster_of

SKEW_MAX: Final = 3
"""Minor versions that a node may be behind its control plane: https://kubernetes.io/releases/version-skew-policy/#kubelet."""


@dataclass(frozen=True)
class Judgement:
    """What becomes of a change.

    Parameters
    ----------
    refused
        All that stands in its way; empty if it may go on.
    anew
        Parts that the cloud will never finish, and that may be made anew: nothing is lost with them.
    ahead
        Parts that go before all others, with a run of the engine for each of these. Empty if a group is made anew.
    notes
        What is not in order, and no reason to stop: the change may mend it.
    """

    refused: tuple[Blocker, ...] = ()
    anew: tuple[ClusterComponent, ...] = ()
    ahead: tuple[tuple[ClusterComponent, ...], ...] = ()
    notes: tuple[str, ...] = ()


def judge(cloud: Cloud, parts: Sequence[ClusterComponent], conditions: Conditions) -> Judgement:
    """Judge a change to what the stack file says.

    Parameters
    ----------
    cloud
        The stack's, which knows its file.
    parts, conditions
        What is there: of a refreshed state, and as the cloud says it is.
    """
    cluster = cluster_of(parts)
    if not cluster:
        return Judgement()
    wanted = cloud.groups
    lost = [part for part in parts if condition(part, conditions).is_lost]
    groups = [part for part in parts if isinstance(part, Group)]
    whole = [group for group in groups if group not in lost]
    rises = _rises(cluster, cloud)
    # Again as long as a group is behind: the last run may have ended between the add-ons.
    is_upgrade = rises or any(_rises(group, cloud) for group in whole if group.is_resource and not group.holds_data)
    anew = tuple(
        part for part in lost if part.may_be_made_anew and (not isinstance(part, Group) or part.program_name in wanted)
    )
    # A run that leaves a lost group as it is ends with the program's own error, so with one there is a single run.
    in_several_runs = not any(isinstance(part, Group) for part in anew)
    there = [part for part in parts if part not in lost]
    return Judgement(
        refused=(
            *_upgrade(cluster, groups, cloud),
            *(
                refused
                for group in whole
                for refused in _sizes(group, wanted.get(group.program_name), cloud, rolls=rises or _rises(group, cloud))
            ),
            *cloud.refusals(there),
            *(refused for part in parts for refused in _condition(part, conditions)),
        ),
        anew=anew,
        ahead=cloud.ahead(there, is_upgrade=is_upgrade) if in_several_runs else (),
        notes=(*(note for part in parts for note in _notes(part, conditions)), *cloud.notes(there)),
    )


def _rises(part: ClusterComponent, cloud: Cloud) -> bool:
    return bool(part.version) and minor(part.version) < minor(cloud.version)


def _upgrade(cluster: ClusterComponent, groups: Sequence[Group], cloud: Cloud) -> Iterator[Blocker]:
    live, wanted = minor(cluster.version), minor(cloud.version)
    if not live:
        return
    asked = f"{cloud.version}, the {cluster} runs {cluster.version}"
    allowed = f"{cloud.service} takes {cluster.version} or 1.{live + 1}"
    if wanted < live:
        step = f"Set it to {cluster.version}: `up` never goes back. {cloud.no_way_back}"
        yield Blocker("cluster.version", asked, allowed, step)
    elif wanted > live + 1:
        step = f"Set it to 1.{live + 1} and run `up`, then go on in steps of one."
        yield Blocker("cluster.version", asked, allowed, step)
    # Behind what the control plane is, and what it would be at the next step.
    reached = min(max(wanted, live), live + 1)
    for group in groups:
        behind = reached - minor(group.version)
        if group.version and behind > SKEW_MAX:
            yield Blocker(
                "cluster.version",
                f"1.{reached} would leave the {group} on {group.version}, {behind} minors behind",
                f"nodes may be {SKEW_MAX} behind the control plane",
                _catch_up(group, live),
            )
        elif group.version and behind > 1 and _is_brought_along(group, cloud):
            yield Blocker(
                "cluster.version",
                f"1.{reached} would take the {group} from {group.version} over {behind} minors at once",
                f"{cloud.service} takes one at a time",
                f"{group.upgrade(f'1.{reached - 1}')}, then run `up` again.",
            )


def _is_brought_along(group: Group, cloud: Cloud) -> bool:
    """Return whether the program raises a group itself, and only by one minor."""
    is_programs = group.is_resource and not group.holds_data and group.program_name in cloud.groups
    return is_programs and not group.may_skip_minors


def _catch_up(group: Group, live: int) -> str:
    if group.holds_data:
        return (
            "Its nodes hold data, so nothing moves them by itself: replicate the data elsewhere, then "
            f"{group.upgrade(f'1.{live}')}, one zone at a time."
        )
    if not (group.is_resource and group.may_skip_minors):
        return f"Nothing but this moves its nodes: {group.upgrade(f'1.{live}')}."
    return f"Set it to 1.{live} and run `up`: that brings the nodes to the control plane's version."


def _sizes(live: Group, wanted: NodeGroup | None, cloud: Cloud, *, rolls: bool) -> Iterator[Blocker]:
    """Refuse bounds that the cloud would refuse, or that would end nodes at work.

    The size of an elastic group between its bounds is the autoscaler's and is sent as it is live, so that new bounds
    must hold it. ``rolls`` says that its nodes are replaced by ones of another version.
    """
    sizes = live.sizes
    if wanted is None or sizes is None:
        return
    low, size, high = sizes.low, sizes.size, sizes.high
    where = f"pools.{wanted.pool}.size"
    if wanted.is_elastic and wanted.size.min > size:
        yield Blocker(
            where,
            f"the {live} has {size} nodes, and min would be {wanted.size.min}",
            f"at most {size} now, since {cloud.service} wants the size between the bounds and the size is the "
            "autoscaler's",
            f"{live.resize(low, max(high, wanted.size.min), wanted.size.min)}, then run `up` again.",
        )
    is_stack_files = not sizes.is_elastic and not wanted.is_elastic  # nobody else moves it, so lowering it is meant
    if wanted.size.max < size and (live.holds_data or not is_stack_files):
        yield Blocker(
            where,
            f"the {live} has {size} nodes, and max would be {wanted.size.max}",
            f"at least {size} now: whatever runs on the others would be ended",
            _shrink(live, wanted.size.max, cloud),
        )
    if rolls and wanted.is_elastic and (low, high) != (wanted.size.min, wanted.size.max):
        yield Blocker(
            where,
            f"the bounds of the {live} go from {low}..{high} to {wanted.size} together with cluster.version",
            "one of the two at a time: nodes are replaced for so long that the autoscaler moves the size meanwhile, "
            "and the size read before would be sent after",
            f"Leave the bounds at {low}..{high} until the upgrade is done.",
        )


def _shrink(group: Group, high: int, cloud: Cloud) -> str:
    if group.holds_data:
        return f"Data nodes are never scaled in: move the data, and remove the pool on purpose ({cloud.page})."
    return (
        f"Drain what is too much (`kubectl drain`); the autoscaler ends empty nodes. Once there are {high} or fewer, "
        "run `up` again."
    )


def _condition(part: ClusterComponent, conditions: Conditions) -> Iterator[Blocker]:
    found = condition(part, conditions)
    if found.is_moving:
        what = f"is {found.status}: somebody, or a run that was killed, changes it"
        step = "Wait for it, then run this again."
        yield Blocker(str(part), what, f"changes are taken when it is {found.active}", step)
    elif found.is_lost and not part.may_be_made_anew:
        why = "; ".join(found.issues) or f"{part.service} names no cause"
        yield Blocker(str(part), f"is {found.status}: {why}", "nothing makes it anew by itself", _step_when_lost(part))


def _step_when_lost(part: ClusterComponent) -> str:
    if isinstance(part, Group):
        return (
            f"It may hold the only copy of its data. If it holds none: {part.delete}, wait until it is gone, and run "
            "`up` again."
        )
    return (
        f"A failed control plane does not come back. Look at {part.look}, mend the cause, then `igz-clusters destroy` "
        "and `up`; with work in it, ask the cloud's support first."
    )


def _notes(part: ClusterComponent, conditions: Conditions) -> Iterator[str]:
    found = condition(part, conditions)
    if found.is_in_order or found.is_moving or (found.is_lost and not part.may_be_made_anew):
        return
    why = f": {'; '.join(found.issues)}" if found.issues else ""
    rest = ". It is made anew" if found.is_lost else ""
    yield f"The {part} is {found.status}{why}{rest}."
