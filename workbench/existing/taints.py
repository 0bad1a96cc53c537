"""Taints that nodes of somebody else's cluster lack, and those that we added and may take away.

No resource of the stack holds them. Server-side apply knows a node's taints as one value, so that who owns ours would
own all, also those that Kubernetes itself sets and clears while a node is not ready or cordoned. So `igz-clusters`
changes single entries, on the very version of the node that it read, and notes on the node which it added.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from components.contract.labels import AnnotationKey
from components.contract.ownership import FIELD_MANAGER
from components.contract.taints import Taint
from workbench.engine.kubectl import Api
from workbench.existing.objects import LiveObject
from workbench.system.errors import UserError

ATTEMPTS: Final = 5
"""Reads of a node that others change at the same time."""

TRANSIENT: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Keys under which Kubernetes itself taints a node for a while:
https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-not-ready."""

_KEY: Final = AnnotationKey.TAINTS.value
_POINTER: Final = f"/metadata/annotations/{_KEY.replace('~', '~0').replace('/', '~1')}"


@dataclass(frozen=True)
class Change:
    """Taints that a node is given, and taken."""

    node: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @override
    def __str__(self) -> str:
        """Return the node and its changes, on one line."""
        words = [*(f"+ {taint}" for taint in self.added), *(f"- {taint}" for taint in self.removed)]
        return f"taints of node {self.node}: {', '.join(words)}"


def spelled(taint: Mapping[str, Any]) -> str:
    """Return a taint of a node as kubectl prints it."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def taints_of(node: LiveObject) -> Sequence[Mapping[str, Any]]:
    """Return all taints that a node has."""
    return node.content.get("spec", {}).get("taints") or ()


def ours_on(node: LiveObject) -> tuple[str, ...]:
    """Return the taints that the node's own note calls ours."""
    return tuple(filter(None, node.annotations.get(_KEY, "").split(",")))


def rivals(node: LiveObject, wanted: Iterable[Taint]) -> Iterator[tuple[Taint, str]]:
    """Return each wanted taint in whose place somebody else has put another value, with what is there.

    A node has one taint at most of a key and an effect.
    """
    for taint in wanted:
        for there in taints_of(node):
            same_place = (there["key"], there["effect"]) == (taint.key, taint.effect.value)
            if same_place and there.get("value", "") != taint.value and spelled(there) not in ours_on(node):
                yield taint, spelled(there)


def foreign(node: LiveObject, wanted: Iterable[Taint]) -> list[str]:
    """Return the taints that are neither wanted, nor ours, nor of the moment: pods of users do not tolerate them."""
    known = {*map(str, wanted), *ours_on(node)}
    there = [spelled(taint) for taint in taints_of(node) if not taint["key"].startswith(TRANSIENT)]
    return [taint for taint in there if taint not in known]


def change_of(node: LiveObject, wanted: Sequence[Taint]) -> Change:
    """Return what is to be done about a node whose pool wants these taints; none for a node of no pool."""
    there, names = set(map(spelled, taints_of(node))), tuple(map(str, wanted))
    return Change(
        node.name,
        tuple(name for name in names if name not in there),
        tuple(name for name in ours_on(node) if name not in names),
    )


def perform(api: Api, name: str, wanted: Sequence[Taint]) -> Change:
    """Bring a node's taints to what its pool wants, and leave all others as they are at that moment.

    Raises
    ------
    UserError
        The node changes too fast, somebody else took the place of a taint, or the server refuses.
    """
    for _ in range(ATTEMPTS):
        node = LiveObject(json.loads(api.run("get", "node", name, "-o", "json")))
        for taint, there in rivals(node, wanted):
            raise UserError(f"Node {name} has the taint {there} of somebody else in the place of {taint}.")
        change = change_of(node, wanted)
        if not (change.added or change.removed):
            return change
        patch = json.dumps(_patch(node, change, wanted))
        try:
            api.run("patch", "node", name, "--type=json", f"--field-manager={FIELD_MANAGER}", "-p", patch)
        except UserError as error:
            if "testing value" not in error.message and "test operation" not in error.message:
                raise
            continue  # somebody was faster: what there is now is read again
        return change
    raise UserError(f"Node {name} is changed so often that its taints cannot be.", "Run this again.")


def _patch(node: LiveObject, change: Change, wanted: Sequence[Taint]) -> list[dict[str, Any]]:
    entries = {str(taint): taint.to_kubernetes() for taint in wanted}
    kept = [taint for taint in taints_of(node) if spelled(taint) not in change.removed]
    taints = [*kept, *(entries[name] for name in change.added)]
    noted = [*(name for name in ours_on(node) if name not in change.removed), *change.added]
    patch: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": node.content["metadata"]["resourceVersion"]},
        {"op": "add", "path": "/spec/taints", "value": taints},
    ]
    if noted and not node.annotations:
        patch.append({"op": "add", "path": "/metadata/annotations", "value": {}})
    if noted:
        patch.append({"op": "add", "path": _POINTER, "value": ",".join(noted)})
    elif _KEY in node.annotations:
        patch.append({"op": "remove", "path": _POINTER})
    return patch
