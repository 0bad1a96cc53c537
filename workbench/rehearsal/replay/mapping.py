"""Creates a scenario from what a file says about pods."""

import math
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from workbench.rehearsal.replay.observed import History
from workbench.rehearsal.replay.part import moment_text
from workbench.rehearsal.replay.problems import CHOOSE, UnfitError
from workbench.rehearsal.replay.units import Unit, units_of
from workbench.rehearsal.replay.works import Group, Yaml, arrivals_of, groups_of, work_of
from workbench.rehearsal.scenario.arrivals import ARRIVALS_MAX
from workbench.rehearsal.scenario.durations import LONGEST, duration_text
from workbench.rehearsal.scenario.model import SPEED_MAX, WORKS_MAX, Scenario
from workbench.rehearsal.settings import SPEED
from workbench.system.errors import UserError

REAL_SECONDS: Final = 600
"""How long a replay may take in real time before it is sped up."""

WAIT_MIN: Final = 300
"""Smallest derived limit of waiting, in seconds."""

WAIT_MIN_REAL: Final = 5
"""The same in real seconds: the scheduler and the autoscaler of a rehearsal work in real time."""

_MINUTE: Final = 60
_WEEK: Final = 7 * 86_400
_PLACES: Final = (
    "Nodes, images and namespaces of the source are not replayed: pods run in the stack's first namespace with core "
    "services, and their project or namespace is their team."
)


@dataclass(frozen=True)
class _Span:
    """What is replayed, in seconds since 1970."""

    start: float
    end: float

    @property
    def seconds(self) -> int:
        return max(1, math.ceil(self.end - self.start))

    @property
    def speed(self) -> int:
        return min(SPEED_MAX, max(int(SPEED), math.ceil(self.seconds / REAL_SECONDS)))


def scenario_of(history: History, title: str) -> tuple[Scenario, tuple[str, ...]]:
    """Return the scenario of a history, and what its user must know, as sentences.

    Parameters
    ----------
    history
        What the file says.
    title
        What the file is called in the description.

    Raises
    ------
    UnfitError
        It has no pods of user work, or more than a scenario can hold.
    UserError
        The part is outside of the file.
    """
    span = _span(history)
    units = list(units_of(history, span.start, span.end, history.counts))
    if not units:
        raise UnfitError(
            _empty(history), "Export it from a time when user work ran." if not _has_part(history) else CHOOSE
        )
    if len(units) > ARRIVALS_MAX:
        raise UnfitError(f"has {len(units)} units of work; a scenario has at most {ARRIVALS_MAX}.")
    groups, ratio = groups_of(units)
    if len(groups) > WORKS_MAX:
        raise UnfitError(f"has work of {len(groups)} different shapes; a scenario has at most {WORKS_MAX}.")
    limits = {group.name: _limit(group, span) for group in groups}
    lasts = span.seconds + max(limits.values()) + _MINUTE
    if lasts > LONGEST:
        raise UnfitError(f"covers {span.seconds / 86_400:.0f} days; a scenario lasts at most 31 days.")
    expectations = [*_expectations(groups, limits), {"expect": "core-services-unmoved"}]
    document = {
        "description": f"Replay of {title}",
        "lasts": duration_text(lasts),
        "speed": span.speed,
        "works": {group.name: work_of(group) for group in groups},
        "arrivals": [arrival for group in groups for arrival in arrivals_of(group)],
        "expectations": expectations,
    }
    try:
        scenario = Scenario.model_validate(document)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise UnfitError(f"has work that a scenario cannot hold, at {place}.") from None
    return scenario, (*_notes(history, span, units, ratio), *_derived(expectations, units))


def _span(history: History) -> _Span:
    pods = list(history)
    first = min((pod.created for pod in pods), default=history.first or 0.0)
    last = max((at for pod in pods for at in (pod.created, pod.ended) if at is not None), default=first)
    last = max(last, history.last if history.last is not None else last)
    part = history.part
    if part.end is None and history.has_steady_pods and part.start is None and last - first > LONGEST - _WEEK:
        first = last - _WEEK
        history.notes.append(
            "It covers more than 24 days: only its last week is replayed; what ran before runs at once."
        )
    start = part.start if part.start is not None else first
    end = min(last, part.end) if part.end is not None else last
    if history.first is not None and part.end is not None and part.end < history.first:
        begins = moment_text(history.first)
        raise UserError(f"The file starts at {begins}, after the part that --to chooses.", "Choose a later part.")
    if history.last is not None and part.start is not None and part.start >= last:
        raise UserError(
            f"The file ends at {moment_text(last)}, before the part that --from chooses.", "Choose an earlier part."
        )
    return _Span(start, end)


def _has_part(history: History) -> bool:
    return history.part.start is not None or history.part.end is not None


def _empty(history: History) -> str:
    where = f"the part {history.part}" if _has_part(history) else "the file"
    left = "".join(f" {what}: {count}." for what, count in history.left_out.most_common())
    return f"{where} has no pods of user work.{left}"


def _limit(group: Group, span: _Span) -> int:
    """Return the limit of a work's wait: its worst wait there, but not below what a rehearsal can measure."""
    worst = max((wait for unit in group.units for wait in unit.waits), default=0.0)
    return math.ceil(max(worst, WAIT_MIN, WAIT_MIN_REAL * span.speed) / _MINUTE) * _MINUTE


def _expectations(groups: list[Group], limits: dict[str, int]) -> list[Yaml]:
    found: list[Yaml] = []
    for group in groups:
        placed = sum(len(unit.waits) for unit in group.units)
        pods = placed + sum(unit.unplaced for unit in group.units)
        if placed and (percent := _percent(placed, pods)):
            time = duration_text(limits[group.name])
            found.append({"expect": "waits-at-most", "work": group.name, "time": time, **percent})
        completed = sum(unit.is_completed for unit in group.units)
        if group.runs_for and completed and (percent := _percent(completed, len(group.units))):
            found.append({"expect": "completes", "work": group.name, **percent})
    return found


def _percent(part: int, whole: int) -> Yaml:
    """Return the share as YAML; empty if it is below 1 %."""
    percent = 100 * part // whole
    return {"percent": percent} if percent else {}


def _notes(history: History, span: _Span, units: list[Unit], ratio: float) -> list[str]:
    notes = [
        f"Replays {moment_text(span.start)} to {moment_text(span.end)}. Units of work: {len(units)}.",
        *history.notes,
        *(f"{what}: {count}." for what, count in (history.left_out + history.counts).most_common()),
        _PLACES,
    ]
    if any(unit.runs for unit in units):
        words = (
            "are averaged" if math.isinf(ratio) else f"that differ by at most {(ratio - 1) * 100:.0f} % are averaged"
        )
        notes.append(f"Run times of equal pods {words}.")
    unplaced = sum(unit.unplaced for unit in units)
    if unplaced and any(unit.waits for unit in units):
        notes.append(f"Pods that were never placed there (the limits of waiting leave out their share): {unplaced}.")
    if span.speed > SPEED:
        real = math.ceil(span.seconds / span.speed / _MINUTE)
        notes.append(
            f"It runs at speed {span.speed} and takes about {real} minutes: waits are measured to about "
            f"{duration_text(span.speed)}. Choose a part with --from and --to for finer timing."
        )
    return notes


def _derived(expectations: list[Yaml], units: list[Unit]) -> list[str]:
    kinds = [each["expect"] for each in expectations]
    waiting, completing = kinds.count("waits-at-most"), kinds.count("completes")
    derived = (
        f"Derived expectations: waits-at-most for {waiting} of the works (the worst wait there, but at least "
        f"{WAIT_MIN // _MINUTE} minutes and {WAIT_MIN_REAL} seconds of real time), completes for {completing}, and "
        "core-services-unmoved."
    )
    notes = [derived]
    if not any(unit.waits for unit in units):
        notes.append("The file does not say how long pods waited, so no limit of waiting is derived.")
    return notes
