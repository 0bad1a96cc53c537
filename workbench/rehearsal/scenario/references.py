"""Names of works in arrivals, events and expectations, checked in what the user wrote.

They are checked even if the works themselves have problems, so that one mistake hides no other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra.config.problems import did_you_mean
from workbench.rehearsal.scenario.kinds import DEPLOYMENTS, SCALING, WorkKind
from workbench.rehearsal.scenario.work import Work


@dataclass(frozen=True)
class ReferenceProblem:
    """A reference that is invalid."""

    message: str
    path: tuple[str | int, ...]
    given: Any = None
    allowed: tuple[str, ...] = ()


def reference_problems(document: Mapping[Any, Any]) -> Iterator[ReferenceProblem]:
    """Return the problems of all names of works in a scenario as the user wrote it."""
    works = document.get("works")
    if not isinstance(works, Mapping) or not works:
        return
    for section in ("arrivals", "events", "expectations"):
        for index, entry in _entries(document, section):
            name = entry.get("work")
            if isinstance(name, str) and name not in works:
                message = f"no such work{did_you_mean(name, map(str, works))}"
                yield ReferenceProblem(message, (section, index, "work"), name, tuple(map(str, works)))
    yield from _unfit(document, works)
    yield from _unused(document, works)


def _unfit(document: Mapping[Any, Any], works: Mapping[Any, Any]) -> Iterator[ReferenceProblem]:
    """Return references to works of a kind for which an event or expectation has no meaning."""
    loaded = set()
    for index, event in _entries(document, "events"):
        if not (kind := _kind(works, event)):
            continue
        if event.get("event") == "load":
            loaded.add(event["work"])
        if problem := _misplaced(str(event.get("event")), kind, works[event["work"]]):
            yield ReferenceProblem(problem, ("events", index, "work"), event["work"])
    for index, each in _entries(document, "expectations"):
        kind = _kind(works, each)
        if each.get("expect") == "keeps-up" and kind and each["work"] not in loaded:
            message = "has no traffic; add an event load for it, or expect something else"
            yield ReferenceProblem(message, ("expectations", index, "work"), each["work"])
        if each.get("expect") == "completes" and kind and _never_ends(works[each["work"]]):
            action = "expect something else" if kind in DEPLOYMENTS else "set its runsFor"
            message = f"never ends, since it runs until the scenario does; {action}"
            yield ReferenceProblem(message, ("expectations", index, "work"), each["work"])


def _misplaced(event: str, kind: WorkKind, work: Mapping[Any, Any]) -> str:
    """Return why an event has no meaning for a work; empty if it has."""
    if event == "scale" and kind not in DEPLOYMENTS:
        *others, last = DEPLOYMENTS
        return f"is of kind {kind}; only works of kind {', '.join(others)} and {last} have replicas"
    if event == "scale" and work.get("scales") is not None:
        return "its HorizontalPodAutoscaler would undo this; use the event load, or workers instead of scales"
    if event == "load" and kind not in SCALING:
        *others, last = SCALING
        return f"is of kind {kind}; only works of kind {', '.join(others)} and {last} follow a load"
    if event == "load" and work.get("scales") is None:
        return "does not follow a load; give it scales, such as {min: 1, max: 4}, or use the event scale"
    return ""


def _never_ends(work: Mapping[Any, Any]) -> bool:
    """Return whether a work certainly has no ``runsFor``: an unknown key may be a misspelled one."""
    known = {field.alias for field in Work.model_fields.values()}
    return work.get("runsFor") is None and work.keys() <= known


def _unused(document: Mapping[Any, Any], works: Mapping[Any, Any]) -> Iterator[ReferenceProblem]:
    """Return works that never arrive; none if an arrival names an unknown work, which may be a misspelled one."""
    arrivals = document.get("arrivals")
    if not isinstance(arrivals, list) or not arrivals:
        return
    named = [entry.get("work") if isinstance(entry, Mapping) else None for entry in arrivals]
    if all(isinstance(name, str) and name in works for name in named):
        for name in works:
            if name not in named:
                yield ReferenceProblem("never arrives; add it to arrivals, or remove it", ("works", str(name)))


def _entries(document: Mapping[Any, Any], section: str) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    entries = document.get(section)
    for index, entry in enumerate(entries) if isinstance(entries, list | tuple) else ():
        if isinstance(entry, Mapping):
            yield index, entry


def _kind(works: Mapping[Any, Any], entry: Mapping[Any, Any]) -> WorkKind | None:
    """Return the kind of the work that an entry names; None if either is unknown."""
    name = entry.get("work")
    work = works.get(name) if isinstance(name, str) else None
    kind = work.get("kind") if isinstance(work, Mapping) else None
    return WorkKind(kind) if isinstance(kind, str) and kind in list(WorkKind) else None
