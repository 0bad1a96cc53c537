"""Steps that run the product's commands on the copy: up, again, changed, replaced, killed, destroyed."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.contract.environments import ClusterKind
from components.contract.ownership import FIELD_MANAGER
from workbench.acceptance import assumptions
from workbench.acceptance.in_cluster import (
    cleared,
    land,
    nodes_as_written,
    places,
)
from workbench.acceptance.step import Cluster, Context, StepError
from workbench.engine import pending
from workbench.engine.kubectl import Api
from workbench.report.events import Stream
from workbench.report.model import Outcome
from workbench.system.errors import UserError

POOL: Final = "accept"
"""Name that an elastic pool is renamed to, which replaces its nodes."""

MARK: Final = "acceptance-run"
"""Key of the label and the tag that the run adds."""

KILLS: Final = 3
"""Attempts to kill a run before it ends by itself."""

_QUIET: Final = ("same", "read", "refresh")


def first_up(context: Context) -> str:
    """Create the stack, or continue to create it; refuse a stack of that name that this run did not create."""
    if not context.record.is_ours:
        if context.product.exists():
            raise StepError(
                f"A stack '{context.copied.name}' exists already, and this run did not create it. It was not changed.",
                "Choose another name for the copy with --name.",
            )
        if context.is_in_a_cloud and (others := list(context.product.left())):
            raise StepError(
                f"The account already has resources of a stack or cluster '{context.copied.name}', and this run did "
                "not create them; nothing was changed:\n" + "\n".join(others),
                "They may be of a run that uses another backend. Choose another name for the copy with --name.",
            )
        context.record.is_ours = True
        context.record.save(context.copied.folder)
    context.product.create()
    context.product.up()
    return f"{len(_recorded(context.product.cluster()))} resources"


def second_up(context: Context) -> str:
    """Run `up` on an unchanged stack."""
    return _unchanged(context, "unchanged up")


def sizes_survive(context: Context) -> str:
    """Run `up` while pods hold nodes that the autoscaler added."""
    landed = context.record.seen.get("landed", [])
    land(context, landed)  # again, if the run was interrupted after them
    before = places(context)
    seen = _unchanged(context, "autoscaler sizes")
    after = places(context)
    if moved := [name for name, node in before.items() if after.get(name) != node]:
        raise StepError(f"`up` moved or ended the pods {', '.join(moved)}: it changed sizes that the autoscaler set.")
    return f"{seen}; {len(after)} pods stayed on their nodes"


def no_autoscaler(context: Context) -> str:
    """Return why no autoscaler changes sizes; empty if one does."""
    if any(group.is_elastic for group in context.config.groups):
        return ""
    return "No pool is elastic: the autoscaler changes no size."


def drift_is_empty(context: Context) -> str:
    """Compare the state with the live resources."""
    report = context.product.drift()
    if report.outcome is not Outcome.PASSED:
        rows = [f"{change.operation} {change.name} ({change.type})" for change in report.changes]
        raise StepError("Drift:\n" + "\n".join([*rows, *report.problems, *report.reasons]))
    return f"{report.unchanged} resources are as the state has them"


def changed_in_place(context: Context) -> str:
    """Add a label to the nodes of a pool, and a tag in a cloud; nothing may be replaced."""
    _mark(context)
    stream = context.product.up()
    context.record.note(assumptions.of_update(stream, "change in place"))
    if replaced := [step.name for step in stream.steps if step.op == "replace" and not step.is_component]:
        raise StepError(f"Replaced instead of changed in place: {', '.join(replaced)}.")
    updated = [step for step in stream.results if step.op == "update" and not step.is_component]
    if not updated:
        raise StepError("`up` changed nothing, although a label of a pool changed.")
    nodes_as_written(context)
    return f"{len(updated)} resources updated in place"


def _mark(context: Context) -> None:
    """Set label and tag to a new value."""
    context.keep(marks=context.record.seen.get("marks", 0) + 1)  # before the edit: each attempt has its own value
    value = str(context.record.seen["marks"])
    groups, is_local = context.config.groups, context.kind is ClusterKind.LOCAL
    # The local autoscaler sets a changed label on new nodes only, and on AKS no run may change the initial pool.
    static = (group for group in groups if not group.is_elastic and (group.holds_user_work or is_local))
    group = next(static, None) or next(group for group in groups if group.holds_user_work)
    changes = {f"pools.{group.pool}.labels.{MARK}": value}
    if context.is_in_a_cloud:
        changes[f"cluster.tags.{MARK}"] = value
    context.copied.edit(changes)


def no_elastic_pool(context: Context) -> str:
    """Return why no pool can be replaced; empty if one can."""
    if context.kind is ClusterKind.EXISTING:
        return "The nodes belong to the cluster's owner."
    return "" if _elastic(context) else "The stack has no elastic pool for user work."


def pool_replaced(context: Context) -> str:
    """Rename an elastic pool: its groups are deleted and new ones created, and a pod lands there."""
    pools = context.copied.choices["pools"]
    if "replaced" not in context.record.seen:
        new = POOL if POOL not in pools else f"{POOL}2"
        context.keep(replaced=[_elastic(context), new])
    old, new = context.record.seen["replaced"]
    if old in pools:
        context.copied.edit({"pools": {new if name == old else name: pool for name, pool in pools.items()}})
    context.product.up()
    land(context, [new])
    cleared(context)
    nodes_as_written(context)
    if stale := [name for name in context.product.cluster().deployment.get("resources") or () if _is_of(name, old)]:
        raise StepError(f"The state still has {', '.join(each['urn'] for each in stale)}.")
    return f"pool '{old}' is now '{new}'; a pod was scheduled there"


def _is_of(resource: Mapping[str, Any], pool: str) -> bool:
    return (resource.get("inputs") or {}).get("nodeGroupName") == pool or resource["urn"].endswith(f"-{pool}")


def _elastic(context: Context) -> str:
    """Return the elastic user pool whose replacement costs least; empty if there is none."""
    pools = context.config.pools.items()
    elastic = [
        (pool.size.min, not pool.role.takes_plain_jobs, name)
        for name, pool in pools
        if pool.size.is_elastic and pool.holds_user_work
    ]
    return min(elastic)[-1] if elastic else ""


def killed_and_recovered(context: Context) -> str:
    """Kill an `up` during its first change, recover, and complete it."""
    for _ in range(KILLS):
        _mark(context)
        was_killed = context.product.killed_up()
        left = _pending(context) if was_killed else ""
        context.product.recover()
        stream = context.product.up()
        context.record.note(assumptions.of_update(stream, "kill and recover"))
        _unchanged(context, "kill and recover")
        if was_killed:
            nodes_as_written(context)
            return f"recovered; pending in the state: {left}"
    raise StepError(
        f"`up` ended {KILLS} times before it could be killed.", "Run the step again: the same command continues."
    )


def _pending(context: Context) -> str:
    """Return the operations that a killed run left in the state, which may be damaged."""
    try:
        return ", ".join(pending.operations(context.product.cluster().deployment)) or "nothing"
    except UserError as damage:
        return damage.message


def destroyed(context: Context) -> str:
    """Delete the stack."""
    resources = _recorded(context.product.cluster())
    if resources:
        context.keep(objects=_objects(resources))
    context.product.destroy()
    if left := _recorded(context.product.cluster()):
        raise StepError(f"The state still has {len(left)} resources: {', '.join(each['urn'] for each in left)}.")
    return f"{len(resources)} resources deleted"


def nothing_left(context: Context) -> str:
    """Check that the stack left nothing in the cloud or in a remaining cluster, then remove it from the backend."""
    left = list(context.product.left())
    if not context.is_in_a_cloud:
        left += _left_in_cluster(context.api, context.record.seen.get("objects", []))
    if left:
        raise StepError("Left after `destroy`:\n" + "\n".join(left))
    kept = list(context.product.kept()) if context.is_in_a_cloud else []
    context.product.forget()
    if kept:
        return "nothing with the copy's tags in the cloud but what a destroy keeps:\n" + "\n".join(kept)
    return "nothing with the copy's tags in the cloud" if context.is_in_a_cloud else "no object of ours in the cluster"


def _objects(resources: list[Mapping[str, Any]]) -> list[str]:
    """Return the kinds of the objects in a state, as kubectl accepts them."""
    given = [each.get("inputs") or {} for each in resources if each["type"].startswith("kubernetes:")]
    kinds = {f"{each['kind']}.{each['apiVersion'].rpartition('/')[0]}".rstrip(".") for each in given if "kind" in each}
    return sorted(kinds)


def _left_in_cluster(api: Api, kinds: list[str]) -> Iterator[str]:
    """Return the objects of these kinds that have fields applied by us."""
    for kind in kinds:
        try:
            listed = api.run("get", kind, "-A", "--show-managed-fields", "--ignore-not-found", "-o", _MANAGERS)
        except UserError:  # the kind itself is gone with its definition
            continue
        for line in listed.splitlines():
            name, _, managers = line.partition(" ")
            if FIELD_MANAGER in managers.split(","):
                yield f"{kind} {name}"


_MANAGERS: Final = (
    "go-template={{range .items}}{{.metadata.name}} "
    '{{range .metadata.managedFields}}{{.manager}},{{end}}{{"\\n"}}{{end}}'
)


def _unchanged(context: Context, step: str) -> str:
    stream = context.product.up()
    if changes := [f"{each.op} {each.name} ({each.type})" for each in changing(stream)]:
        raise StepError("An `up` without a change to the stack file changes:\n" + "\n".join(changes))
    resources = _recorded(context.product.cluster())
    context.record.note(assumptions.of_second_update(resources, step))
    return f"nothing changed in {len(resources)} resources"


def changing(stream: Stream) -> Iterator[Any]:
    """Return the steps of a run that change something."""
    return (each for each in stream.steps if each.op not in _QUIET and not each.is_component)


def _recorded(cluster: Cluster) -> list[Mapping[str, Any]]:
    return [each for each in cluster.deployment.get("resources") or () if each.get("custom")]
