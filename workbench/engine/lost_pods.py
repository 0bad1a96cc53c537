"""Finds nodes of the autoscaler and pods that an update of a local cluster would end, but its plan does not show."""

import json
from collections import Counter
from typing import Any, Final

from policies.views.node_groups.local import NODE
from workbench.engine.kubectl import Api
from workbench.engine.pool_status import group_of
from workbench.report.changes import Changed
from workbench.report.model import Change, Operation
from workbench.report.pools import Group, Groups
from workbench.report.values import safe
from workbench.report.words import count

_NAMED: Final = 5
"""Maximum number of pods named; the rest are counted."""

_ENDED: Final = {"Succeeded", "Failed"}


def lost_pods(recorded: Groups, declared: Groups, api: Api) -> list[Changed]:
    """Return removed elastic pools with nodes, and other removed pools and nodes with running pods.

    Each is a change that needs an approval. It compares the pools of the last update with those of the stack file, so
    it needs no plan. A renamed pool counts as one removed and one added. Removing an elastic pool deletes no resource,
    so its change has the type of a node and the pool's name.

    Parameters
    ----------
    recorded, declared
        Groups by name, from the state and from the stack file.
    api
        The local cluster.

    Raises
    ------
    UserError
        The cluster does not answer.
    """
    gone = recorded.keys() - declared.keys()
    nodes = {node for name, group in recorded.items() if name not in gone for node in _static(name, group)}
    nodes -= {node for name, group in declared.items() for node in _static(name, group)}
    if not gone and not nodes:
        return []
    items: list[dict[str, Any]] = json.loads(api.run("get", "nodes,pods", "--all-namespaces", "-o", "json"))["items"]
    groups = {each["metadata"]["name"]: group_of(each, {}, {}) for each in items if each["kind"] == "Node"}
    elastic = Counter(name for name in groups.values() if name in gone and not _static(name, recorded[name]))
    found: dict[tuple[str, str], list[str]] = {("pool", name): [] for name in elastic}
    for pod in filter(_is_running, items):
        node, group = pod["spec"]["nodeName"], str(groups.get(pod["spec"]["nodeName"]))
        if group in gone or node in nodes:
            found.setdefault(("pool", group) if group in gone else ("node", node), []).append(_name(pod))
    return [
        Changed(_removal(name, elastic[name], pods), f"{what} with {'running pods' if pods else 'live nodes'}")
        for (what, name), pods in sorted(found.items())
    ]


def _static(name: str, group: Group) -> list[str]:
    """Return the names of the nodes of a fixed-size group in the local cluster."""
    return [f"{name}-{index}" for index in range(group.min)] if group.min == group.max else []


def _name(pod: dict[str, Any]) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _is_running(item: dict[str, Any]) -> bool:
    if item["kind"] != "Pod" or item.get("status", {}).get("phase") in _ENDED or not item["spec"].get("nodeName"):
        return False
    owners = item["metadata"].get("ownerReferences") or ()
    return not any(owner["kind"] in {"DaemonSet", "Node"} for owner in owners)


def _removal(name: str, nodes: int, pods: list[str]) -> Change:
    shown = safe(name)
    lost = " with ".join([*([count(nodes, "node")] if nodes else []), *([_listed(pods)] if pods else [])])
    return Change(Operation.DELETE, f"{NODE}::{shown}", NODE, shown, carries_state=safe(lost, 1_000))


def _listed(pods: list[str]) -> str:
    rest = f" and {len(pods) - _NAMED} more" if len(pods) > _NAMED else ""
    return f"{count(len(pods), 'running pod')} ({', '.join(sorted(pods)[:_NAMED])}{rest})"
