"""The one issue about drift, against a double of GitHub."""

import lzma
from pathlib import Path

import pytest

from support.github import BOT, PERSON, FakeGitHub
from workbench.cli.github import drift_issue
from workbench.posting.drift_issue import LABEL, MARKER, Settled, settle
from workbench.posting.workflow import own_repository

RECORDED = Path(__file__).parents[1] / "report" / "streams"
"""What the engine itself wrote."""


def test_drift_opens_an_issue_with_a_label_that_is_made_if_it_is_missing(github: FakeGitHub) -> None:
    assert settle(own_repository(), "prod differs", differs=True) is Settled.OPENED
    [issue] = github.issues
    assert issue["body"] == f"{MARKER}\nprod differs"
    assert github.labels == {LABEL}


def test_the_issue_is_updated_then_left_alone_then_closed(github: FakeGitHub) -> None:
    texts = [("a", True), ("b", True), ("b", True), ("all is well", False), ("all is well", False)]
    settled = [settle(own_repository(), text, differs=differs) for text, differs in texts]
    assert settled == [Settled.OPENED, Settled.UPDATED, Settled.UNCHANGED, Settled.CLOSED, Settled.NOTHING]
    [issue] = github.issues
    assert (issue["state"], issue["body"]) == ("closed", f"{MARKER}\nall is well")


def test_the_next_drift_opens_another_issue(github: FakeGitHub) -> None:
    for differs in (True, False, True):
        settle(own_repository(), "text", differs=differs)
    assert [issue["state"] for issue in github.issues] == ["closed", "open"]


@pytest.mark.parametrize(
    ("user", "body", "labels"), [(PERSON, MARKER, [LABEL]), (BOT, "mine", [LABEL]), (BOT, MARKER, ["other"])]
)
def test_an_issue_of_somebody_else_is_neither_changed_nor_closed(
    github: FakeGitHub, user: dict[str, str], body: str, labels: list[str]
) -> None:
    theirs = github.open_issue(body, labels, user)
    assert settle(own_repository(), "all is well", differs=False) is Settled.NOTHING
    settle(own_repository(), "prod differs", differs=True)
    assert (theirs["body"], theirs["state"]) == (body, "open")


def test_a_stack_without_a_stream_could_not_be_judged_and_keeps_the_issue_open(
    github: FakeGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settle(own_repository(), "prod differs", differs=True)
    drift_issue(tmp_path, ["acme-dev", "acme-prod"])
    assert capsys.readouterr().out.strip() == Settled.UPDATED
    [issue] = github.issues
    assert issue["state"] == "open"
    assert "`acme-dev`" in issue["body"]
    assert "`acme-prod`" in issue["body"]


@pytest.mark.parametrize(("recorded", "told"), [("drift", "differs"), ("unchanged", "of another command")])
def test_what_the_engine_saw_is_told_and_a_preview_is_no_look(
    github: FakeGitHub, tmp_path: Path, recorded: str, told: str
) -> None:
    (tmp_path / "acme-dev.jsonl").write_bytes(lzma.decompress((RECORDED / f"{recorded}.jsonl.xz").read_bytes()))
    drift_issue(tmp_path, ["acme-dev"])
    [issue] = github.issues
    assert issue["state"] == "open"
    assert told in issue["body"].lower()
