"""The one comment of a pull request, against an emulator of GitHub, from event and record to the text."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cmarkgfm import github_flavored_markdown_to_html as html

from support.github import BOT, PERSON, FakeGitHub
from workbench.cli.github import comment
from workbench.report.markdown import COMMENT_MAX
from workbench.review.posting.comment import FILES_MAX, CommentResult
from workbench.system.errors import UserError

Event = Callable[..., None]

MARKER = "<!-- igz-clusters: report of render -->"
COMMIT = "c0ffee" + "0" * 34


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """What a review left of a change that touched documentation only."""
    folder = tmp_path / "record"
    folder.mkdir()
    write(folder)
    return folder


def write(folder: Path, **changes: object) -> None:
    contents = {"format": 1, "base": "b" * 40, "head": COMMIT, "compared": False, "stacks": {}, "skipped": ["dev"]}
    (folder / "review.json").write_text(json.dumps({**contents, **changes}))


def bodies(github: FakeGitHub, number: int = 7) -> list[str]:
    return [said["body"] for said in github.comments[number]]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.strip()


def test_the_first_report_is_a_new_comment_that_names_run_and_commit(
    github: FakeGitHub, event: Event, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event()
    comment(record)
    [body] = bodies(github)
    assert body.splitlines()[0] == MARKER
    assert "`dev`" in body
    assert "https://github.com/acme/clusters/actions/runs/1" in body
    assert COMMIT[:12] in body
    assert said(capsys) == CommentResult.CREATED


def test_the_next_report_edits_that_comment_and_the_same_report_touches_nothing(
    github: FakeGitHub, event: Event, record: Path
) -> None:
    event()
    comment(record)
    write(record, skipped=["prod"])
    comment(record)
    comment(record)
    [body] = bodies(github)
    assert "`prod`" in body
    assert [method for method, _ in github.writes] == ["POST", "PATCH"]


def test_each_workflow_keeps_a_comment_of_its_own(github: FakeGitHub, event: Event, record: Path) -> None:
    event()
    comment(record)
    event(name="compare")
    comment(record)
    assert [body.splitlines()[0] for body in bodies(github)] == [MARKER, MARKER.replace("render", "compare")]


def test_of_two_comments_of_ours_the_first_is_kept(github: FakeGitHub, event: Event, record: Path) -> None:
    github.say(7, f"{MARKER}\nfirst", BOT)
    github.say(7, f"{MARKER}\nsecond", BOT)
    event()
    comment(record)
    [body] = bodies(github)
    assert "first" not in body
    assert ("DELETE", "/issues/comments/2") in github.writes


@pytest.mark.parametrize(("user", "text"), [(PERSON, f"{MARKER}\nforged"), (BOT, f"I quote:\n{MARKER}")])
def test_a_comment_of_somebody_else_or_about_ours_is_left_alone(
    github: FakeGitHub, event: Event, record: Path, user: dict[str, str], text: str
) -> None:
    github.say(7, text, user)
    event()
    comment(record)
    assert bodies(github)[0] == text
    assert len(bodies(github)) == 2


def test_the_pull_request_is_the_events_and_never_the_records(github: FakeGitHub, event: Event, record: Path) -> None:
    github.pull(8, repository="acme/clusters", branch="more-gpus", commit="a" * 40)
    write(record, number=8, pull_request=8, head="a" * 40, pull_requests=[{"number": 8}])
    event()
    comment(record)
    assert (len(bodies(github)), bodies(github, 8)) == (1, [])


@pytest.mark.parametrize(
    "changes",
    [
        {"head_sha": "d" * 40},
        {"head_branch": "other"},
        {"head_repository": {"full_name": "somebody/clusters"}},
        {"head_repository": {"full_name": "mallory/clusters-2"}},
    ],
)
def test_a_run_whose_head_moved_on_or_is_another_posts_nothing(
    github: FakeGitHub, event: Event, record: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object]
) -> None:
    event(**changes)
    comment(record)
    assert (bodies(github), said(capsys)) == ([], CommentResult.STALE)


def test_a_closed_pull_request_or_one_to_another_branch_gets_nothing(
    github: FakeGitHub, event: Event, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    github.pulls[0]["state"] = "closed"
    github.pull(8, repository="mallory/clusters", branch="more-gpus", commit=COMMIT, base="release")
    github.pull(9, repository="mallory/clusters", branch="more-gpus", commit=COMMIT)
    github.pulls[-1]["head"]["repo"] = None  # its fork was deleted
    event()
    comment(record)
    assert (bodies(github), bodies(github, 8), said(capsys)) == ([], [], CommentResult.STALE)


def test_a_pull_request_that_is_deleted_meanwhile_is_no_failure(
    github: FakeGitHub, event: Event, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del github.comments[7]
    event()
    comment(record)
    assert said(capsys) == CommentResult.GONE


@pytest.mark.parametrize(
    "fault",
    [
        (403, {"Retry-After": "1"}, "You have exceeded a secondary rate limit."),
        (403, {"X-RateLimit-Reset": "1"}, "API rate limit exceeded for installation."),
        (502, {}, "Server Error"),
    ],
)
def test_a_rate_limit_and_a_failing_server_are_waited_for(
    github: FakeGitHub, event: Event, record: Path, fault: tuple[int, dict[str, str], str]
) -> None:
    github.faults.append(fault)
    event()
    comment(record)
    assert len(bodies(github)) == 1


def test_a_rate_limit_that_ends_after_the_job_is_told(github: FakeGitHub, event: Event, record: Path) -> None:
    github.faults.append((403, {"X-RateLimit-Reset": "9999999999"}, "API rate limit exceeded for installation."))
    event()
    with pytest.raises(UserError, match="rate limit"):
        comment(record)


def test_a_token_that_may_not_write_is_told(github: FakeGitHub, event: Event, record: Path) -> None:
    github.faults.append((403, {}, "Resource not accessible by integration"))
    event()
    with pytest.raises(UserError, match="status 403: Resource not accessible by integration") as error:
        comment(record)
    assert "permissions" in error.value.hint


def test_a_change_of_the_workflows_is_said_before_anything_else(github: FakeGitHub, event: Event, record: Path) -> None:
    github.files[7] = [
        {"filename": "docs/a.md"},
        {"filename": "x", "previous_filename": ".github/workflows/render.yml"},
    ]
    event()
    comment(record)
    [body] = bodies(github)
    assert "changes the workflows themselves: `.github/workflows/render.yml`" in body.splitlines()[1]


def test_a_change_with_more_files_than_github_lists_may_be_of_the_workflows(
    github: FakeGitHub, event: Event, record: Path
) -> None:
    github.files[7] = [{"filename": f"!/{number}"} for number in range(FILES_MAX)]
    event()
    comment(record)
    [body] = bodies(github)
    assert "changes the workflows themselves: `.github/`" in body.splitlines()[1]


def test_without_a_record_the_comment_says_that_nobody_could_judge(
    github: FakeGitHub, event: Event, tmp_path: Path
) -> None:
    event()
    comment(tmp_path / "missing")
    [body] = bodies(github)
    assert "Evaluation incomplete" in body
    assert "without a record" in body


def test_the_records_of_several_jobs_are_one_report_and_none_of_them_skips_the_others_stack(
    github: FakeGitHub, event: Event, tmp_path: Path
) -> None:
    for stack, other in (("acme-dev", "acme-prod"), ("acme-prod", "acme-dev")):
        folder = tmp_path / "records" / f"record-{stack}"
        folder.mkdir(parents=True)
        write(folder, stacks={stack: {"problems": [f"{stack} is broken"]}}, skipped=[other, "local"], compared=True)
    event(name="compare", conclusion="failure")
    comment(tmp_path / "records")
    [body] = bodies(github)
    assert "acme-dev is broken" in body
    assert "acme-prod is broken" in body
    assert "Not affected: `local`." in body


def test_a_record_that_passes_of_a_run_that_failed_could_not_be_judged(
    github: FakeGitHub, event: Event, record: Path
) -> None:
    event(conclusion="failure")
    comment(record)
    [body] = bodies(github)
    assert "Evaluation incomplete" in body
    assert "its record contains no error" in body


def symlink(folder: Path) -> None:
    (folder / "review.json").unlink()
    (folder / "review.json").symlink_to("/etc/passwd")


def symlinked_stack(folder: Path) -> None:
    write(folder, stacks={"prod": {"environment": "prod", "kind": "eks"}})
    (folder / "stacks").symlink_to("/proc/self")


def outside(folder: Path) -> None:
    write(folder, stacks={"../../../etc/passwd": {"environment": "prod", "kind": "eks"}})


def huge(folder: Path) -> None:
    with (folder / "review.json").open("wb") as file:
        file.truncate(100_000_000)


def huge_stream(folder: Path) -> None:
    write(folder, stacks={"prod": {"environment": "prod", "kind": "eks"}})
    (folder / "stacks/prod").mkdir(parents=True)
    for name in ("plan", "judged"):
        with (folder / f"stacks/prod/{name}.jsonl").open("wb") as file:
            file.truncate(100_000_000)


def pipe(folder: Path) -> None:
    (folder / "review.json").unlink()
    os.mkfifo(folder / "review.json")


def binary(folder: Path) -> None:
    (folder / "review.json").write_bytes(bytes(range(256)))


def deep(folder: Path) -> None:
    (folder / "review.json").write_text("[" * 100_000)


@pytest.mark.parametrize("spoil", [symlink, symlinked_stack, outside, huge, huge_stream, pipe, binary, deep])
def test_a_hostile_record_is_a_comment_that_nobody_could_judge_and_quotes_no_file(
    github: FakeGitHub, event: Event, record: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(record)
    event()
    comment(record)
    [body] = bodies(github)
    assert "Evaluation incomplete" in body
    assert "root:" not in body
    assert len(body) <= COMMENT_MAX


def test_text_of_a_record_neither_notifies_nor_links_nor_closes_the_marker(
    github: FakeGitHub, event: Event, record: Path
) -> None:
    bait = f"--> @everyone <img src=x> [click](https://example.invalid) {MARKER} ## Passed"
    write(record, judge=[{"file": bait, "what": bait}])
    event()
    comment(record)
    [body] = bodies(github)
    assert body.count(MARKER + "\n") == 1
    page = html(body)
    assert not re.search(r"<img|example\.invalid\">", page)
    assert re.findall(r'href="([^"]*)"', page) == ["https://github.com/acme/clusters/actions/runs/1"]


def test_an_event_that_is_none_is_told_with_all_that_is_wrong(
    github: FakeGitHub, event: Event, record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event(event="push")
    with pytest.raises(UserError, match="was triggered by 'push', not by a pull request"):
        comment(record)
    event(head_sha="main; rm -rf", head_repository={})
    with pytest.raises(UserError, match=r"head_sha.*head_repository\.full_name: field required"):
        comment(record)
    for path in ("", str(tmp_path / "none.json")):
        monkeypatch.setenv("GITHUB_EVENT_PATH", path)
        with pytest.raises(UserError, match="does not describe a finished run"):
            comment(record)
    assert github.writes == []


def test_missing_variables_are_told_all_at_once(event: Event, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    event()
    for name in ("GITHUB_TOKEN", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match="Not set: GITHUB_TOKEN, GITHUB_REPOSITORY"):
        comment(record)


def test_a_server_that_is_not_there_is_told(
    github: FakeGitHub, event: Event, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:1")
    event()
    with pytest.raises(UserError, match="Cannot reach GitHub"):
        comment(record)
