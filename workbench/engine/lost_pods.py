"""Running pods that an update of a local cluster ends: those on the nodes that it takes away."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from policies.views.node_groups.local import NODE
from workbench.engine.kubectl import Api
from workbench.engine.pool_status import group_of
from workbench.report import pools
from workbench.report.changes import Changed, changes_of
from workbench.report.events import Stream
from workbench.report.model import Change, Operation
from workbench.report.values import safe

_NAMED: Final = 5
"""Pods that are named; more are counted."""

_ENDED: Final = {"Succeeded", "Failed"}


def lost_pods(stream: Stream, api: Api) -> list[Changed]:
    """Return the pools and nodes with running pods that a plan takes away, as changes that need an approval.

    A renamed pool is one that goes and one that comes. Of an elastic pool no resource is deleted, so its change carries
    the type of a node and the pool's name.

    Parameters
    ----------
    stream
        The plan of an `up`.
    api
        The local cluster.

    Raises
    ------
    UserError
        The cluster does not answer.
    """
    gone, nodes = set(_removed_groups(stream)), _deleted_nodes(stream)
    if not gone and not nodes:
        return []
    items: list[dict[str, Any]] = json.loads(api.run("get", "nodes,pods", "--all-namespaces", "-o", "json"))["items"]
    groups = {each["metadata"]["name"]: group_of(each, {}, {}) for each in items if each["kind"] == "Node"}
    by_group, by_node = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for pod in filter(_is_running, items):
        node = pod["spec"]["nodeName"]
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        if (group := groups.get(node)) in gone:
            by_group[str(group)].append(name)
        elif node in nodes:
            by_node[node].append(name)
    stack = next((step.urn.split("::", 1)[0] for step in stream.steps), "urn:pulumi:")
    return [
        *(Changed(_removal(stack, group, pods), "pool with running pods") for group, pods in sorted(by_group.items())),
        *(
            Changed(replace(nodes[node], carries_state=_listed(pods)), "node with running pods")
            for node, pods in sorted(by_node.items())
        ),
    ]


def _removed_groups(stream: Stream) -> Iterator[str]:
    try:
        before, after = pools.before_and_after(stream)
    except pools.UnreadableError:
        return
    if before and after:
        yield from before.keys() - after.keys()


def _deleted_nodes(stream: Stream) -> Mapping[str, Change]:
    """Return the deleted nodes that no other rule guards, by name."""
    return {
        change.name: change
        for change, kind in changes_of(stream)
        if change.type == NODE and change.operation in (Operation.DELETE, Operation.REPLACE) and not kind
    }


def _is_running(item: dict[str, Any]) -> bool:
    if item["kind"] != "Pod" or item.get("status", {}).get("phase") in _ENDED or not item["spec"].get("nodeName"):
        return False
    owners = item["metadata"].get("ownerReferences") or ()
    return not any(owner["kind"] in {"DaemonSet", "Node"} for owner in owners)


def _removal(stack: str, group: str, pods: list[str]) -> Change:
    name = safe(group)
    return Change(Operation.DELETE, f"{stack}::::{NODE}::{name}", NODE, name, carries_state=_listed(pods))


def _listed(pods: list[str]) -> str:
    count = "1 running pod" if len(pods) == 1 else f"{len(pods)} running pods"
    rest = f" and {len(pods) - _NAMED} more" if len(pods) > _NAMED else ""
    return safe(f"{count} ({', '.join(sorted(pods)[:_NAMED])}{rest})", 1_000)
