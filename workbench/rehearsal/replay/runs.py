"""Reads exports of MLRun's runs, as JSON of ``list_runs()`` or as CSV of ``list_runs().to_df()``.

Fields are those of ``RunObject`` in mlrun/mlrun, ``mlrun/model.py`` (``RunMetadata``, ``RunSpec``, ``RunStatus`` with
``start_time``, ``end_time`` and ``last_update``), columns those of ``RunList`` in ``mlrun/lists.py``, states those of
``RunStates`` in ``mlrun/common/runtimes/constants.py``. A run's label ``kind`` is its runtime
(``mlrun/launcher/base.py``, ``_store_function``). ``start_time`` is when the run's context was made
(``mlrun/execution.py``), before its pod runs.
"""

import ast
import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

from workbench.rehearsal.replay.envelopes import objects
from workbench.rehearsal.replay.kinds import MLRUN_KINDS
from workbench.rehearsal.replay.observed import End, History, LeftOut, Observed, Origin, Shape
from workbench.rehearsal.replay.part import moment_of
from workbench.rehearsal.replay.problems import ReplayError
from workbench.rehearsal.replay.stream import ENTRY_MAX, Source

NO_SIZES: Final = (
    "MLRun's runs have no sizes: every pod gets the stack's default requests, Spark, Dask and MPI one worker; write "
    "the scenario to a file to set them."
)
ASSUMED_RUN: Final = 600.0
"""Seconds that a finished run without an end is assumed to have taken."""

COLUMNS: Final = ("uid", "start", "state", "name")
"""Columns that an export as CSV must have; ``project``, ``iter``, ``end`` and ``labels`` are read as well."""

_ENDS: Final = {"completed": End.COMPLETED, "error": End.FAILED, "aborted": End.DELETED, "aborting": End.DELETED}


def is_run(value: Mapping[str, Any]) -> bool:
    """Return whether an entry is a run of MLRun."""
    metadata, status = value.get("metadata"), value.get("status")
    return isinstance(metadata, dict) and isinstance(status, dict) and "uid" in metadata and "state" in status


def is_csv(head: str) -> bool:
    """Return whether a file begins like runs exported as CSV."""
    return set(COLUMNS) <= set(columns_of(head))


def columns_of(head: str) -> list[str]:
    """Return the names in the first line of a table; none if it cannot be one."""
    try:
        return [name.strip() for name in next(csv.reader(head.lstrip("\ufeff").splitlines()[:1]), [])]
    except csv.Error:
        return []


def read(source: Source, history: History) -> None:
    """Add the runs of an export as JSON.

    Raises
    ------
    ReplayError
        An entry is not a run, or has no start.
    """
    problem = "an object that is not a run, in an export of MLRun's runs."
    for line, run in objects(source, is_run, problem, "Export the list that list_runs() returns."):
        _add(source, line, run, history)
    history.notes.append(NO_SIZES)


def read_csv(source: Source, history: History) -> None:
    """Add the runs of an export as CSV.

    Raises
    ------
    ReplayError
        A row has no start, or a row or the compressed file is damaged.
    """
    csv.field_size_limit(ENTRY_MAX)
    with source.open() as file, io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="") as text:
        rows = csv.DictReader(text)
        try:
            while row := source.guarded(lambda: next(rows, None), None):
                _add(source, rows.line_num, _run_of(row), history)
        except csv.Error:
            raise ReplayError(source.path, "a damaged row.", "Export the table again.", line=rows.line_num) from None
    history.notes.append(NO_SIZES)


def _run_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the run of a row; columns of parameters, inputs, results and artifacts are not read."""
    labels = _literal(row.get("labels"))
    if not isinstance(labels, dict):
        labels = {"kind": row.get("kind") or ""}
    metadata = {"uid": row.get("uid"), "name": row.get("name"), "project": row.get("project"), "labels": labels,
                "iteration": row.get("iter")}  # fmt: skip
    return {
        "metadata": metadata,
        "status": {"state": row.get("state"), "start_time": row.get("start"), "end_time": row.get("end")},
    }


def _literal(text: object) -> Any:
    try:
        return ast.literal_eval(str(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _add(source: Source, line: int, run: Mapping[str, Any], history: History) -> None:
    metadata, status, spec = (run.get(name) or {} for name in ("metadata", "status", "spec"))
    labels = metadata.get("labels") or {}
    kind = MLRUN_KINDS.get(str(labels.get("kind", "")))
    if str(metadata.get("iteration") or "0") not in {"0", "0.0"}:
        history.left_out[LeftOut.CHILD] += 1
        return
    state = str(status.get("state"))
    if kind is None or state == "skipped":
        history.left_out[LeftOut.NOT_A_POD] += 1
        return
    created = moment_of(status.get("start_time"))
    if created is None:
        if state in {"created", "pending", "unknown"}:
            history.counts["Runs that never started (left out)"] += 1
            return
        raise ReplayError(
            source.path,
            "a run without a start time.",
            "It must be a time such as 2026-03-02 08:00:00+00:00.",
            line=line,
        )
    selector = {str(key): str(value) for key, value in (spec.get("node_selector") or {}).items()}
    origin = Origin(kind=kind, base=str(metadata.get("name") or ""), team=str(metadata.get("project") or ""))
    pod = Observed(origin=origin, shape=Shape(selector=tuple(sorted(selector.items()))), created=created)
    for at in _end(pod, state, status, history):
        history.saw(at)
    history.add((metadata.get("uid"), metadata.get("project")), pod)


def _end(pod: Observed, state: str, status: Mapping[str, Any], history: History) -> Iterator[float]:
    """Note a run's end; yield the moments of the run that the file covers."""
    yield pod.created
    end = _ENDS.get(state)
    if end is None:
        return
    ended = moment_of(status.get("end_time")) or moment_of(status.get("last_update"))
    if ended is None:
        history.counts[f"Finished runs without an end ({ASSUMED_RUN / 60:.0f} minutes are assumed)"] += 1
        ended = pod.created + ASSUMED_RUN
    pod.ends(ended, end)
    yield max(ended, pod.created)
