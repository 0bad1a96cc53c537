import json
import os
import tracemalloc
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.waivers import today
from support.streams import NAME, stream
from workbench.report import events
from workbench.report.model import Judge, JudgeChange, Outcome, Report, Source
from workbench.report.record import CONTENTS, CONTENTS_MAX, merged, read
from workbench.system.errors import UserError

APPROVAL = {
    "stack": NAME,
    "resource": "*",
    "operation": "replace",
    "reason": "moved",
    "owner": "ml",
    "ticket": "OPS-1",
    "expires": str(today() + timedelta(days=10)),
}


WAIVER = {
    "rule": "NG-11",
    "stack": NAME,
    "resource": "*::prod-workload",
    "reason": "a benchmark",
    "owner": "ml",
    "ticket": "OPS-1",
    "expires": str(today() + timedelta(days=10)),
}


def record(folder: Path, plan: str = "larger", judged: str = "larger", **contents: Any) -> Path:
    """Write a record as a review does."""
    stack = folder / "stacks" / NAME
    stack.mkdir(parents=True)
    (stack / "plan.jsonl").write_bytes(stream(plan))
    (stack / "judged.jsonl").write_bytes(stream(judged))
    row = {"environment": "prod", "kind": "eks", "problems": []}
    whole = {"format": 1, "base": "a" * 40, "head": "b" * 40, "compared": False, "stacks": {NAME: row}, **contents}
    (folder / CONTENTS).write_text(json.dumps(whole))
    return folder


def test_a_record_is_read_whole(tmp_path: Path) -> None:
    judge = [{"file": "policies/overrides.yaml", "what": "adds a waiver"}]
    found = read(record(tmp_path, "waived", "violating", judge=judge, skipped=["dev"], newWaivers=[WAIVER]))
    assert (found.outcome, found.base, found.head, found.skipped) == (Outcome.REVIEW, "a" * 12, "b" * 12, ("dev",))
    assert found.judge == (JudgeChange("policies/overrides.yaml", "adds a waiver"),)
    (stack,) = found.stacks
    assert (stack.source, stack.outcome, stack.findings[0].judge) == (Source.RENDERED, Outcome.REVIEW, Judge.OWN)
    assert read(tmp_path) == found


def test_a_changed_judge_alone_asks_for_its_owners(tmp_path: Path) -> None:
    judge = [{"file": "CODEOWNERS", "what": "changes"}]
    assert read(record(tmp_path, judge=judge)).outcome is Outcome.REVIEW


def test_a_change_that_affects_no_stack_passes(tmp_path: Path) -> None:
    assert read(record(tmp_path, stacks={}, skipped=[NAME])) == Report(
        Outcome.PASSED, (), skipped=(NAME,), base="a" * 12, head="b" * 12
    )


def test_a_wrong_stack_file_blocks(tmp_path: Path) -> None:
    found = read(record(tmp_path, stacks={"other": {"problems": ["pools: is required", "x\x1b[2J"]}}, compared=True))
    (stack,) = found.stacks
    assert (stack.outcome, stack.source, stack.problems) == (
        Outcome.BLOCKED,
        Source.COMPARED,
        ("pools: is required", "x\\x1b[2J"),
    )


def test_a_name_that_no_stack_can_have_is_a_problem_of_that_stack_alone(tmp_path: Path) -> None:
    wrong = {"My stack\x1b[2J": {"problems": ["a stack's name is its cluster's"]}, "Prod": {}}
    record(tmp_path, stacks={NAME: {}, **wrong})
    found = {stack.stack: (stack.outcome, stack.problems) for stack in read(tmp_path).stacks}
    assert found == {
        "My stack\\x1b[2J": (Outcome.BLOCKED, ("a stack's name is its cluster's",)),
        "Prod": (Outcome.UNJUDGED, ("not a valid stack name",)),
        NAME: (Outcome.PASSED, ()),
    }


@pytest.mark.parametrize(
    ("approvals", "outcome"),
    [
        ({"base": [APPROVAL], "head": [APPROVAL]}, Outcome.PASSED),
        ({"base": [], "head": [APPROVAL]}, Outcome.REVIEW),
        ({"base": [], "head": [{**APPROVAL, "expires": "2999-01-01"}]}, Outcome.BLOCKED),
        ({"base": [], "head": []}, Outcome.BLOCKED),
    ],
)
def test_the_rows_of_both_branches_approve(tmp_path: Path, approvals: dict[str, Any], outcome: Outcome) -> None:
    assert read(record(tmp_path, "replaced", "replaced", approvals=approvals)).outcome is outcome


def test_the_guard_of_the_record_is_above_that_of_the_change(tmp_path: Path) -> None:
    stacks = {NAME: {"guard": "off"}}
    assert read(record(tmp_path, "replaced", "replaced", stacks=stacks)).outcome is Outcome.PASSED


def outside(folder: Path) -> None:
    secret = folder.parent / "outside.jsonl"
    secret.write_bytes(stream("larger"))
    (folder / "stacks" / NAME / "plan.jsonl").unlink()
    (folder / "stacks" / NAME / "plan.jsonl").symlink_to(secret)


def linked_folder(folder: Path) -> None:
    real = folder.parent / "elsewhere"
    (folder / "stacks").rename(real)
    (folder / "stacks").symlink_to(real)


def pipe(folder: Path) -> None:
    (folder / "stacks" / NAME / "plan.jsonl").unlink()
    os.mkfifo(folder / "stacks" / NAME / "plan.jsonl")


def large(folder: Path) -> None:
    with (folder / "stacks" / NAME / "plan.jsonl").open("ab") as file:
        file.truncate(events.SIZE_MAX + 1)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a missing stream": (lambda f: (f / "stacks" / NAME / "judged.jsonl").unlink(), "judged.jsonl is missing"),
    "an empty stream": (lambda f: (f / "stacks" / NAME / "plan.jsonl").write_bytes(b""), "is empty"),
    "a binary stream": (
        lambda f: (f / "stacks" / NAME / "plan.jsonl").write_bytes(os.urandom(9999)),
        "is invalid JSON",
    ),
    "a link to a file outside": (outside, "plan.jsonl cannot be read"),
    "a link to a folder outside": (linked_folder, "plan.jsonl cannot be read"),
    "a pipe": (pipe, "plan.jsonl is not a file"),
    "a folder in a file's place": (
        lambda f: ((f / "stacks" / NAME / "plan.jsonl").unlink(), (f / "stacks" / NAME / "plan.jsonl").mkdir()),
        "plan.jsonl is not a file",
    ),
    "a stream of 64 MB": (large, "the limit is 64,000,000"),
    "no contents": (lambda f: (f / CONTENTS).unlink(), "review.json is missing"),
    "contents that are a link": (
        lambda f: ((f / CONTENTS).rename(f / "other"), (f / CONTENTS).symlink_to("other")),
        "review.json cannot be read",
    ),
    "contents without end": (lambda f: (f / CONTENTS).write_bytes(b" " * (CONTENTS_MAX + 1)), "the limit is 4,000,000"),
    "contents that are no JSON": (lambda f: (f / CONTENTS).write_text("{"), "check all of it"),
    "contents nested deeply": (lambda f: (f / CONTENTS).write_text("[" * 100_000), "check all of it"),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_record_is_unjudged_and_says_where(tmp_path: Path, case: str) -> None:
    damage, said = DAMAGES[case]
    folder = tmp_path / "record"
    damage(record(folder))
    found = read(folder)
    assert (found.outcome, found.outcome.exit_code) == (Outcome.UNJUDGED, 3)
    problems = (*found.problems, *(problem for stack in found.stacks for problem in stack.problems))
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("contents", "place"),
    [
        ({"format": 2}, "format"),
        ({"format": "1"}, "format"),
        ({"compared": None}, "compared"),
        ({"base": "../../etc"}, "base"),
        ({"stacks": []}, "stacks"),
        ({"stacks": {"../../etc": {}}}, "stacks"),
        ({"stacks": {"a/b": {}}}, "stacks"),
        ({"stacks": {"a\x00": {}}}, "stacks"),
        ({"stacks": {NAME: {"environment": "test"}}}, f"stacks.{NAME}.environment"),
        ({"stacks": {NAME: {"guard": "maybe"}}}, f"stacks.{NAME}.guard"),
        ({"judge": [{"file": 1}]}, "judge.0.file"),
        ({"approvals": {"head": [{"stack": NAME}]}}, "approvals.head.0"),
        ({"skipped": "all"}, "skipped"),
        ({"rehearsals": {NAME: [{"scenario": "<b>"}]}}, f"rehearsals.{NAME}.0.scenario"),
    ],
)
def test_contents_of_another_shape_are_unjudged(tmp_path: Path, contents: dict[str, Any], place: str) -> None:
    found = read(record(tmp_path, **contents))
    assert (found.outcome, found.stacks) == (Outcome.UNJUDGED, ())
    assert place in found.problems[0]


@settings(deadline=None, max_examples=50)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["format", "stacks", "compared", "x"]), x),
    )
)
def test_no_contents_raise(tmp_path_factory: pytest.TempPathFactory, contents: Any) -> None:
    folder = tmp_path_factory.mktemp("record")
    (folder / CONTENTS).write_text(json.dumps(contents))
    assert read(folder).outcome in (Outcome.UNJUDGED, Outcome.PASSED)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("first", Source.RENDERED),
        ("larger", Source.COMPARED),
        ("grown", Source.DONE),
        ("drift", Source.DRIFT),
        ("destroyed", Source.COMPARED),
    ],
)
def test_a_bare_stream_says_itself_what_it_is(tmp_path: Path, name: str, source: Source) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(stream(name))
    (stack,) = read(file).stacks
    assert (stack.stack, stack.source) == (NAME, source)


def test_a_stream_that_says_nothing_has_its_files_name(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("")
    (stack,) = read(tmp_path / "mine.jsonl").stacks
    assert (stack.stack, stack.outcome) == ("mine", Outcome.UNJUDGED)


def test_a_path_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read(tmp_path / "nothing")


def test_several_reports_are_one(tmp_path: Path) -> None:
    whole = read(record(tmp_path / "a", "violating", "violating"))
    file = tmp_path / "b.jsonl"
    file.write_bytes(stream("larger"))
    both = merged([whole, read(file)])
    assert (both.outcome, len(both.stacks), both.base) == (Outcome.BLOCKED, 2, "")
    assert merged([whole]) == whole


def test_a_large_file_is_not_loaded_whole(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    with file.open("wb") as made:
        made.truncate(10 * events.SIZE_MAX)
    tracemalloc.start()
    assert read(file).outcome is Outcome.UNJUDGED
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * events.SIZE_MAX


def test_a_file_whose_name_is_a_dot_is_a_problem_of_that_stack_alone(tmp_path: Path) -> None:
    row = {"environment": "prod", "kind": "eks", "problems": []}
    found = read(record(tmp_path, stacks={NAME: row, ".": {"problems": []}, "..": {"problems": ["x"]}}))
    assert {stack.stack: stack.outcome for stack in found.stacks} == {
        ".": Outcome.UNJUDGED,
        "..": Outcome.BLOCKED,
        NAME: Outcome.PASSED,
    }
