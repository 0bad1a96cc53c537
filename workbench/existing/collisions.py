"""Objects that a plan would make and that somebody else has made already."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from workbench.engine.kubectl import Api
from workbench.existing.objects import LiveObject
from workbench.existing.preflight import Blocker
from workbench.report.events import State, Stream

_MAKES: Final = frozenset({"create"})
_OURS: Final = "pulumi.com/"
_PATCH: Final = "Patch"


def collisions(api: Api, stream: Stream, made: frozenset[str]) -> list[Blocker]:
    """Return what a plan would take over: applied under our name, an object of somebody else would change its owner.

    Parameters
    ----------
    api
        The cluster's.
    stream
        The engine's, of a plan.
    made
        UIDs of what the stack made, so that a state that lost an object finds it again.

    Raises
    ------
    UserError
        The cluster does not answer.
    """
    planned = [
        step.new
        for step in stream.steps
        if step.op in _MAKES and step.new and step.token.startswith("kubernetes:") and not step.token.endswith(_PATCH)
    ]
    wanted = {_key(state.inputs): state.inputs for state in planned if _is_built_in(state)}
    if not wanted:
        return []
    names = [
        {"apiVersion": each["apiVersion"], "kind": each["kind"], "metadata": _place(each)} for each in wanted.values()
    ]
    asked = json.dumps({"apiVersion": "v1", "kind": "List", "items": names})
    answer = api.run("get", "-f", "-", "--ignore-not-found", "-o", "json", "--show-managed-fields", given=asked)
    found = json.loads(answer or "{}")
    live = found.get("items", [found] if found else [])
    return [
        _refused(LiveObject(each), wanted[key])
        for each in live
        if (key := _key(each)) in wanted and not LiveObject(each).is_ours and LiveObject(each).uid not in made
    ]


def _is_built_in(state: State) -> bool:
    # Of a kind that the cluster does not know yet there can be no object, and kubectl would refuse the question.
    group = str(state.inputs["apiVersion"]).rpartition("/")[0]
    return "." not in group or group.endswith(".k8s.io")


def _key(manifest: Mapping[str, Any]) -> tuple[str, str, str]:
    metadata = manifest["metadata"]
    return str(manifest["kind"]), str(metadata.get("namespace") or ""), str(metadata["name"])


def _place(manifest: Mapping[str, Any]) -> dict[str, str]:
    metadata = manifest["metadata"]
    return {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}


def _refused(live: LiveObject, wanted: Mapping[str, Any]) -> Blocker:
    differing = list(_differing(live.content, wanted, ""))
    place = live.content["metadata"].get("namespace")
    return Blocker(
        f"{live.kind} {f'{place}/' if place else ''}{live.name}",
        f"one of somebody else ({_listed(differing, 1)})" if differing else "one of somebody else, that says the same",
        f"one of this stack ({_listed(differing, 2)})" if differing else "one of this stack",
        "Ask its owner to delete or rename it, or rename ours where the stack file names it. It is not taken over.",
    )


def _listed(differing: Sequence[tuple[str, Any, Any]], side: int) -> str:
    return ", ".join(f"{each[0]} {json.dumps(each[side])[:60]}" for each in differing[:3])


def _differing(live: Any, wanted: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield path and both values of each field that is wanted otherwise; what is not wanted is not compared."""
    if isinstance(wanted, Mapping):
        there = live if isinstance(live, Mapping) else {}
        for key, value in wanted.items():
            if not str(key).startswith(_OURS):
                yield from _differing(there.get(key), value, f"{path}.{key}" if path else str(key))
    elif wanted and live != wanted:
        yield path, live, wanted
