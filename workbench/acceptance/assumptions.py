"""Assumed facts about a cloud's resource types that a run of the engine confirms or refutes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from workbench.acceptance.record import AssumptionRecord, Verdict
from workbench.offline.clouds import CLOUDS
from workbench.offline.facts import Resource, Statement
from workbench.offline.input_paths import around
from workbench.report.event_payloads import Step
from workbench.report.events import Stream

_NAMES: Final = {"replaced": "planned for another value", "change": "another value", "read": "refresh"}


def of_update(stream: Stream, step: str) -> Iterator[AssumptionRecord]:
    """Return the verdicts on assumed facts about the inputs that an update changed.

    A fact is confirmed if the engine handled the input as the fact states. It is refuted if the engine did something
    else or the change failed.

    Parameters
    ----------
    stream
        Event stream of one update, without its plan.
    step
        Name of the step of the acceptance run.
    """
    failed = {each.urn for each in stream.failures}
    for each in [*stream.results, *stream.failures]:
        if each.op not in ("update", "replace") or not (known := _known(each.type)):
            continue
        for path in dict.fromkeys(_input(known, path) for path in _changed(each)):
            if found := _statement(known, path, "replaced"):
                yield _row(each.type, path, found, step, _planned(found.answer, each))
            if each.op == "update" and (found := _statement(known, path, "change")):
                is_accepted = each.urn not in failed
                verdict = Verdict.CONFIRMED if is_accepted == (found.answer == "accepted") else Verdict.REFUTED
                how = "was updated in place" if is_accepted else "could not be updated"
                yield _row(each.type, path, found, step, (verdict, f"{each.name} {how}"))


def of_second_update(resources: Iterable[Mapping[str, Any]], step: str) -> Iterator[AssumptionRecord]:
    """Return the verdicts on inputs that are assumed to be read back, after a refresh and an update without changes.

    An input that is never read would not show a difference either, so the verdict is ``consistent``.

    Parameters
    ----------
    resources
        Resources of the state.
    step
        Name of the step.
    """
    for each in resources:
        if not (known := _known(each["type"])):
            continue
        for path in _set(known, each.get("inputs") or {}):
            found = _statement(known, path, "read")
            if found and found.answer == "read back":
                why = "after a refresh the engine planned no change"
                yield _row(each["type"], path, found, step, (Verdict.CONSISTENT, why))


def _planned(answer: str, each: Step) -> tuple[Verdict, str]:
    done = "replace" if each.op == "replace" else "update"
    verdict = Verdict.CONFIRMED if answer == done else Verdict.REFUTED
    return verdict, f"the engine planned and made a {done} of {each.name}"


def _row(type_: str, path: str, found: Statement, step: str, seen: tuple[Verdict, str]) -> AssumptionRecord:
    fact = f"{_NAMES[found.question]}: {found.answer}"
    return AssumptionRecord(type_, (path,), fact, seen[0], step, seen[1])


def _known(type_: str) -> Resource | None:
    cloud = CLOUDS.get(type_.partition(":")[0])
    if not cloud:
        return None
    found: Resource | None = import_module(f"{cloud.module}.facts").facts().resources.get(type_)
    return found


def _statement(known: Resource, path: str, question: str) -> Statement | None:
    """Return the assumed statement that answers a question about an input; None if there is none or it has a source."""
    found = known.said(path, question)
    return found if found and found.assumed else None


def _changed(each: Step) -> Iterator[str]:
    yield from each.detailed_diff if each.detailed_diff is not None else each.diffs or ()


def _input(known: Resource, path: str) -> str:
    """Return the known input at or around a path of the engine, such as ``taints[].key`` for ``taints[0].key``."""
    written = re.sub(r"\[\d+\]", "[]", re.sub(r'\["([^"]*)"\]', r".\1", path)).lstrip(".")
    return next((each for each in around(written) if each in known.inputs), written)


def _set(known: Resource, inputs: Mapping[str, Any]) -> Iterator[str]:
    """Return the known inputs that have a value."""
    for path in known.inputs:
        values: list[Any] = [inputs]
        for name in path.split("."):
            key = name.rstrip("[]{}")
            values = [value[key] for value in values if isinstance(value, Mapping) and value.get(key) is not None]
            if name.endswith("[]"):
                values = [item for value in values if isinstance(value, list) for item in value]
            elif name.endswith("{}"):
                values = [item for value in values if isinstance(value, Mapping) for item in value.values()]
        if values:
            yield path
