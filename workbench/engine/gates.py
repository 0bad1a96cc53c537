"""What a change of an EKS cluster must not ask for, judged by what is live: the program itself cannot see it.

Everything here is pure. It takes the parts of a refreshed state, EKS's word about each, and the stack file's choices.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from components.contract.eks.choices import EksChoices
from components.contract.environments import ClusterKind
from components.contract.groups import NodeGroup, in_zones, node_groups
from components.contract.taints import spot_taint
from infra.config import StackConfig
from workbench.engine.eks import ACTIVE, MOVING, NEVER_MADE, Conditions, condition
from workbench.engine.parts import CLUSTER, GROUP, Part, cluster_of

SKEW_MAX: Final = 3
"""Minor versions that a node may be behind its control plane: https://kubernetes.io/releases/version-skew-policy/#kubelet."""


@dataclass(frozen=True)
class Refused:
    """Something that a change must not ask for."""

    where: str
    """In the stack file, or in AWS."""
    what: str
    """What was asked for, and what is there."""
    allowed: str
    step: str
    """What to do next."""

    @override
    def __str__(self) -> str:
        """Return all of it, in two lines."""
        return f"- {self.where}: {self.what}; {self.allowed}.\n  {self.step}"


@dataclass(frozen=True)
class Judgement:
    """What becomes of a change.

    Parameters
    ----------
    refused
        All that stands in its way; empty if it may go on.
    anew
        Parts that EKS will never finish, and that may be made anew: nothing is lost with them.
    ahead
        If a version rises: control plane and add-ons, which go before the node groups. Empty if a group is made anew.
    notes
        What is not in order, and no reason to stop: the change may mend it.
    """

    refused: tuple[Refused, ...] = ()
    anew: tuple[Part, ...] = ()
    ahead: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()


def judge(stack: str, config: StackConfig, parts: Sequence[Part], conditions: Conditions) -> Judgement:
    """Judge a change to what the stack file says.

    Parameters
    ----------
    stack
        Name of the stack, with which the program's own names begin.
    config
        The stack file's choices.
    parts, conditions
        What is there: of a refreshed state, and as EKS says it is.
    """
    choices = config.cluster
    cluster = cluster_of(parts)
    if not isinstance(choices, EksChoices) or not cluster:
        return Judgement()
    wanted = _wanted(stack, config, choices)
    failed = [part for part in parts if condition(part, conditions).status in NEVER_MADE]
    groups = [part for part in parts if part.type == GROUP]
    whole = [group for group in groups if group not in failed]
    rises = _rises(cluster, choices)
    # Again as long as a group is behind: the last run may have ended between the add-ons.
    is_upgrade = rises or any(_rises(group, choices) for group in whole if not group.holds_data)
    anew = tuple(
        part for part in failed if _may_be_made_anew(part) and (part.type != GROUP or part.logical_name in wanted)
    )
    # A run that leaves a failed group as it is ends with the program's own error, so with one there is a single run.
    in_two_runs = is_upgrade and all(part.type != GROUP for part in anew)
    return Judgement(
        refused=(
            *_upgrade(cluster, groups, choices),
            *(
                refused
                for group in whole
                for refused in _sizes(group, wanted.get(group.logical_name), rolls=rises or _rises(group, choices))
            ),
            *(refused for part in parts for refused in _condition(part, conditions)),
        ),
        anew=anew,
        ahead=tuple(part for part in parts if part.type != GROUP and part not in failed) if in_two_runs else (),
        notes=tuple(note for part in parts for note in _notes(part, conditions)),
    )


def _wanted(stack: str, config: StackConfig, choices: EksChoices) -> Mapping[str, NodeGroup]:
    """Return the groups that the program asks for, by its names for them."""
    taint = spot_taint(ClusterKind(choices.kind), config.profile)
    return {f"{stack}-{group.name}": group for group in in_zones(node_groups(config.pools, taint), choices.zones)}


def _minor(version: str) -> int:
    """Return the minor of a version such as ``1.35``. What is not known is taken for 0."""
    return int(version.split(".")[1]) if version.count(".") else 0


def _rises(part: Part, choices: EksChoices) -> bool:
    return bool(part.version) and _minor(part.version) < _minor(choices.version)


def _upgrade(cluster: Part, groups: Sequence[Part], choices: EksChoices) -> Iterator[Refused]:
    live, wanted = _minor(cluster.version), _minor(choices.version)
    if not live:
        return
    asked = f"{choices.version}, the {cluster} runs {cluster.version}"
    allowed = f"EKS takes {cluster.version} or 1.{live + 1}"
    if wanted < live:
        step = f"Set it to {cluster.version}: `up` never goes back. {_BACK}"
        yield Refused("cluster.version", asked, allowed, step)
    elif wanted > live + 1:
        step = f"Set it to 1.{live + 1} and run `up`, then go on in steps of one."
        yield Refused("cluster.version", asked, allowed, step)
    # Behind what the control plane is, and what it would be at the next step.
    reached = min(max(wanted, live), live + 1)
    for group in groups:
        behind = reached - _minor(group.version)
        if group.version and behind > SKEW_MAX:
            yield Refused(
                "cluster.version",
                f"1.{reached} would leave the {group} on {group.version}, {behind} minors behind",
                f"nodes may be {SKEW_MAX} behind the control plane",
                _catch_up(group, live),
            )


_BACK: Final = (
    "If EKS raised it by itself, support of the old version ended. An upgrade of the last seven days can be undone by "
    "hand, nodes first: https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html."
)


def _catch_up(group: Part, live: int) -> str:
    if group.holds_data:
        return (
            "Its nodes hold data, so nothing moves them by itself: replicate the data elsewhere, then "
            f"`aws eks update-nodegroup-version --cluster-name {group.cluster} --nodegroup-name {group.name} "
            f"--kubernetes-version 1.{live}`, one zone at a time."
        )
    return f"Set it to 1.{live} and run `up`: that brings the nodes to the control plane's version."


def _sizes(live: Part, wanted: NodeGroup | None, *, rolls: bool) -> Iterator[Refused]:
    """Refuse bounds that EKS would refuse, or that would end nodes at work.

    The size of an elastic group between its bounds is the autoscaler's and is sent as it is live, so that new bounds
    must hold it. ``rolls`` says that its nodes are replaced by ones of another version.
    """
    sizes = live.sizes
    size, low, high = (sizes.get(key) for key in ("desiredSize", "minSize", "maxSize"))
    if wanted is None or size is None or low is None or high is None:
        return
    size, low, high = int(size), int(low), int(high)
    where = f"pools.{wanted.pool}.size"
    if wanted.is_elastic and wanted.size.min > size:
        yield Refused(
            where,
            f"the {live} has {size} nodes, and min would be {wanted.size.min}",
            f"at most {size} now, since EKS wants the size between the bounds and the size is the autoscaler's",
            _resize(live, low, max(high, wanted.size.min), wanted.size.min),
        )
    is_stack_files = low == high and not wanted.is_elastic  # nobody else moves it, so lowering it is meant
    if wanted.size.max < size and (live.holds_data or not is_stack_files):
        yield Refused(
            where,
            f"the {live} has {size} nodes, and max would be {wanted.size.max}",
            f"at least {size} now: whatever runs on the others would be ended",
            _shrink(live, wanted.size.max),
        )
    if rolls and wanted.is_elastic and (low, high) != (wanted.size.min, wanted.size.max):
        yield Refused(
            where,
            f"the bounds of the {live} go from {low}..{high} to {wanted.size} together with cluster.version",
            "one of the two at a time: nodes are replaced for so long that the autoscaler moves the size meanwhile, "
            "and the size read before would be sent after",
            f"Leave the bounds at {low}..{high} until the upgrade is done.",
        )


def _resize(group: Part, low: int, high: int, size: int) -> str:
    return (
        f"`aws eks update-nodegroup-config --cluster-name {group.cluster} --nodegroup-name {group.name} "
        f"--scaling-config minSize={low},maxSize={high},desiredSize={size}`, then run `up` again."
    )


def _shrink(group: Part, high: int) -> str:
    if group.holds_data:
        return "Data nodes are never scaled in: move the data, and remove the pool on purpose (docs/eks.md)."
    return (
        f"Drain what is too much (`kubectl drain`); the autoscaler ends empty nodes. Once there are {high} or fewer, "
        "run `up` again."
    )


def _condition(part: Part, conditions: Conditions) -> Iterator[Refused]:
    found = condition(part, conditions)
    if found.status in MOVING:
        what = f"is {found.status}: somebody, or a run that was killed, changes it"
        yield Refused(str(part), what, f"changes are taken when it is {ACTIVE}", "Wait for it, then run this again.")
    elif found.status in NEVER_MADE and not _may_be_made_anew(part):
        why = "; ".join(found.issues) or "EKS names no cause"
        step = _FAILED_CLUSTER if part.type == CLUSTER else _FAILED_DATA_GROUP
        what = f"is {found.status}: {why}"
        yield Refused(str(part), what, "nothing makes it anew by itself", step.format(part=part))


_FAILED_CLUSTER: Final = (
    "A failed control plane does not come back. Look at `aws eks describe-cluster --name {part.name}`, mend the cause, "
    "then `igz-clusters destroy` and `up`; with work in it, ask AWS first."
)
_FAILED_DATA_GROUP: Final = (
    "It may hold the only copy of its data. If it holds none: `aws eks delete-nodegroup --cluster-name {part.cluster} "
    "--nodegroup-name {part.name}`, wait until it is gone, and run `up` again."
)


def _may_be_made_anew(part: Part) -> bool:
    return part.type != CLUSTER and not part.holds_data


def _notes(part: Part, conditions: Conditions) -> Iterator[str]:
    found = condition(part, conditions)
    if found.is_in_order or found.status in MOVING or (found.status in NEVER_MADE and not _may_be_made_anew(part)):
        return
    why = f": {'; '.join(found.issues)}" if found.issues else ""
    rest = ". It is made anew" if found.status in NEVER_MADE else ""
    yield f"The {part} is {found.status}{why}{rest}."
