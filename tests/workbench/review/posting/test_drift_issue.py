"""The one issue about drift, against an emulator of GitHub."""

from pathlib import Path

import pytest

from support.event_lines import events, kind, lines, resource
from support.github import BOT, PERSON, FakeGitHub
from support.streams import stream
from workbench.cli.github import drift_issue
from workbench.report.events import noted
from workbench.review.posting.drift_issue import LABEL, MARKER, IssueResult, settle
from workbench.review.posting.workflow import own_repository


def test_drift_opens_an_issue_with_a_label_that_is_made_if_it_is_missing(github: FakeGitHub) -> None:
    assert settle(own_repository(), "prod differs", differs=True) is IssueResult.OPENED
    [issue] = github.issues
    assert issue["body"] == f"{MARKER}\nprod differs"
    assert github.labels == {LABEL}


def test_the_issue_is_updated_then_left_alone_then_closed(github: FakeGitHub) -> None:
    texts = [("a", True), ("b", True), ("b", True), ("all is well", False), ("all is well", False)]
    settled = [settle(own_repository(), text, differs=differs) for text, differs in texts]
    assert settled == [
        IssueResult.OPENED,
        IssueResult.UPDATED,
        IssueResult.UNCHANGED,
        IssueResult.CLOSED,
        IssueResult.NOTHING,
    ]
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
    assert settle(own_repository(), "all is well", differs=False) is IssueResult.NOTHING
    settle(own_repository(), "prod differs", differs=True)
    assert (theirs["body"], theirs["state"]) == (body, "open")


def test_a_stack_without_a_stream_could_not_be_judged_and_keeps_the_issue_open(
    github: FakeGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settle(own_repository(), "prod differs", differs=True)
    drift_issue(tmp_path, ["acme-dev", "acme-prod"])
    assert capsys.readouterr().out.strip() == IssueResult.UPDATED
    [issue] = github.issues
    assert issue["state"] == "open"
    assert "`acme-dev`" in issue["body"]
    assert "`acme-prod`" in issue["body"]


def deleted() -> bytes:
    """What the engine says when it finds that the cluster was deleted."""
    found = events("drift")
    for step in resource([event for event in found if kind(event) == "resOutputsEvent"], "prod-cluster"):
        step.update(op="delete", new=None)
    return lines(found)


def test_what_the_engine_found_is_told_until_it_finds_nothing(github: FakeGitHub, tmp_path: Path) -> None:
    (tmp_path / "prod.jsonl").write_bytes(deleted())
    drift_issue(tmp_path, ["prod"])
    [issue] = github.issues
    assert "1 resource is not as declared" in issue["body"]
    assert "`prod-cluster`" in issue["body"]
    (tmp_path / "prod.jsonl").write_bytes(stream("drift"))
    drift_issue(tmp_path, ["prod"])
    assert issue["state"] == "closed"


@pytest.mark.parametrize(("recorded", "stack"), [("unchanged", "prod"), ("drift", "dev")])
def test_a_preview_or_another_stack_is_no_look_at_this_one(
    github: FakeGitHub, tmp_path: Path, recorded: str, stack: str
) -> None:
    (tmp_path / f"{stack}.jsonl").write_bytes(stream(recorded))
    drift_issue(tmp_path, [stack])
    [issue] = github.issues
    assert issue["state"] == "open"
    assert "belongs to another stack or command" in issue["body"]


def test_an_issue_stays_open_until_everything_was_compared_and_a_sleep_opens_none(
    github: FakeGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asleep = noted(stream("drift"), "The cluster sleeps. Objects in it are not compared.")
    said, bodies = [], []
    for content in (asleep, deleted(), asleep, stream("drift")):
        (tmp_path / "prod.jsonl").write_bytes(content)
        drift_issue(tmp_path, ["prod"])
        said.append(capsys.readouterr().out.strip())
        bodies += [(each["state"], each["body"]) for each in github.issues]
    assert said == [IssueResult.NOTHING, IssueResult.OPENED, IssueResult.KEPT, IssueResult.CLOSED]
    opened, kept, _ = bodies
    assert kept == opened, "it shows the drift that may remain"
