"""Adds our taints to nodes of an existing cluster, and removes those that we added.

They are not resources of the stack. Server-side apply treats a node's taints as one value: owning ours would mean
owning all, including those that Kubernetes sets and clears while a node is not ready or cordoned. So `igz-clusters`
patches single entries, guarded by the node's resourceVersion, and records on the node which ones it added.
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
from workbench.engine.live_objects import LiveObject
from workbench.system.errors import UserError

ATTEMPTS: Final = 5
"""Attempts to patch a node that other clients change at the same time."""

TRANSIENT: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Prefixes of the temporary taints that Kubernetes itself sets:
https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-not-ready."""

_KEY: Final = AnnotationKey.TAINTS.value
_POINTER: Final = f"/metadata/annotations/{_KEY.replace('~', '~0').replace('/', '~1')}"


@dataclass(frozen=True)
class Change:
    """Taints to add to a node and to remove from it."""

    node: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @override
    def __str__(self) -> str:
        """Return the node and its changes, on one line."""
        words = [*(f"+ {taint}" for taint in self.added), *(f"- {taint}" for taint in self.removed)]
        return f"taints of node {self.node}: {', '.join(words)}"


def as_text(taint: Mapping[str, Any]) -> str:
    """Return a taint of a node as kubectl prints it."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def taints_of(node: LiveObject) -> Sequence[Mapping[str, Any]]:
    """Return all taints of a node."""
    return node.content.get("spec", {}).get("taints") or ()


def ours_on(node: LiveObject) -> tuple[str, ...]:
    """Return the taints that we added, as recorded in the node's annotation."""
    return tuple(filter(None, node.annotations.get(_KEY, "").split(",")))


def conflicting_taints(node: LiveObject, desired: Iterable[Taint]) -> Iterator[tuple[Taint, str]]:
    """Return each desired taint for which the node has another owner's taint with a different value.

    A node can have only one taint per key and effect.
    """
    for taint in desired:
        for current in taints_of(node):
            same_place = (current["key"], current["effect"]) == (taint.key, taint.effect.value)
            if same_place and current.get("value", "") != taint.value and as_text(current) not in ours_on(node):
                yield taint, as_text(current)


def foreign(node: LiveObject, desired: Iterable[Taint]) -> list[str]:
    """Return the permanent taints of other owners, which users' pods do not tolerate."""
    known = {*map(str, desired), *ours_on(node)}
    current = [as_text(taint) for taint in taints_of(node) if not taint["key"].startswith(TRANSIENT)]
    return [taint for taint in current if taint not in known]


def change_of(node: LiveObject, desired: Sequence[Taint]) -> Change:
    """Return the change that gives a node its pool's taints; ``desired`` is empty for a node without a pool."""
    current, names = set(map(as_text, taints_of(node))), tuple(map(str, desired))
    return Change(
        node.name,
        tuple(name for name in names if name not in current),
        tuple(name for name in ours_on(node) if name not in names),
    )


def perform(api: Api, name: str, desired: Sequence[Taint]) -> Change:
    """Patch a node to have its pool's taints and return the change; leaves other owners' taints unchanged.

    Raises
    ------
    UserError
        The node changes too often, another owner's taint conflicts, or the API server refuses.
    """
    for _ in range(ATTEMPTS):
        node = LiveObject(json.loads(api.run("get", "node", name, "-o", "json")))
        for taint, current in conflicting_taints(node, desired):
            raise UserError(f"Node {name} has the taint {current} of another owner, which conflicts with {taint}.")
        change = change_of(node, desired)
        if not (change.added or change.removed):
            return change
        patch = json.dumps(_patch(node, change, desired))
        try:
            api.run("patch", "node", name, "--type=json", f"--field-manager={FIELD_MANAGER}", "-p", patch)
        except UserError as error:
            if "testing value" not in error.message and "test operation" not in error.message:
                raise
            continue  # changed since it was read
        return change
    raise UserError(f"Node {name} was modified during each of {ATTEMPTS} attempts to set its taints.", "Try again.")


def _patch(node: LiveObject, change: Change, desired: Sequence[Taint]) -> list[dict[str, Any]]:
    entries = {str(taint): taint.to_kubernetes() for taint in desired}
    kept = [taint for taint in taints_of(node) if as_text(taint) not in change.removed]
    taints = [*kept, *(entries[name] for name in change.added)]
    ours = [*(name for name in ours_on(node) if name not in change.removed), *change.added]
    patch: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": node.content["metadata"]["resourceVersion"]},
        {"op": "add", "path": "/spec/taints", "value": taints},
    ]
    if ours and not node.annotations:
        patch.append({"op": "add", "path": "/metadata/annotations", "value": {}})
    if ours:
        patch.append({"op": "add", "path": _POINTER, "value": ",".join(ours)})
    elif _KEY in node.annotations:
        patch.append({"op": "remove", "path": _POINTER})
    return patch
