"""The record of runs: what it survives, and what decides that something runs again."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.fleet import record
from workbench.fleet.record import KEPT, Entry, Records, Run, inputs_of, new, revision
from workbench.fleet.verb import Result, Verb
from workbench.system.errors import UserError

Folder = Callable[..., Path]


def test_a_run_is_read_as_it_was_written(folder: Folder) -> None:
    folder("a")
    run = new(Verb.UP, waves=["one"], at_once=3, hermetic=True)
    run.entries.append(Entry("one", Verb.UP, "a", Result.FAILED, 1.5, 2.5, 1, "no", "abc", needs_repair=True))
    records = Records.of_folder()
    records.save(run)
    assert records.newest() == run
    assert records.folder(run).stat().st_mode & 0o077 == 0, "problems may quote names of clusters"


def test_each_folder_has_its_own_runs(folder: Folder, tmp_path: Path) -> None:
    folder("a")
    Records.of_folder().save(new(Verb.UP))
    (tmp_path / "other").mkdir()
    assert Records.of_folder(tmp_path / "other").newest() is None


def test_reading_creates_nothing(folder: Folder, tmp_path: Path) -> None:
    folder("a")
    assert Records.of_folder().newest() is None
    assert not Records.of_folder().is_running(new(Verb.UP))
    assert not (tmp_path / "data").exists()


def test_old_runs_are_deleted(folder: Folder) -> None:
    folder("a")
    records = Records.of_folder()
    records.save(Run("000-up", Verb.UP))
    for number in range(1, KEPT + 3):
        records.save(Run(f"{number:03}-drift", Verb.DRIFT))
    records.drop_old()
    kept = [run.id for _, run in records.all() if run]
    assert kept == [*(f"{number:03}-drift" for number in reversed(range(3, KEPT + 3))), "000-up"]


def test_a_damaged_record_is_named(folder: Folder) -> None:
    folder("a")
    records, run = Records.of_folder(), new(Verb.UP)
    records.save(run)
    (records.folder(run) / "run.json").write_text('{"id": 1')
    with pytest.raises(UserError, match=r"run\.json cannot be read\."):
        records.newest()


def test_one_run_works_at_a_time(folder: Folder) -> None:
    place = folder("a")
    records, run = Records.of_folder(), new(Verb.UP)
    with records.alone() as lock:
        records.begin(run, lock)
        os.set_inheritable(lock, True)  # noqa: FBT003 its only parameter
        holder = subprocess.Popen(["sleep", "600"], pass_fds=(lock,))
    try:
        assert records.is_running(run), "a process of the run still works"
        assert not records.is_running(new(Verb.UP))
        with pytest.raises(UserError) as refused, records.alone():
            pass
        assert str(refused.value).startswith(
            f"Another run of `igz-clusters fleet` works on the stacks of {place} (process {holder.pid})."
        )
    finally:
        holder.kill()
        holder.wait()
    with records.alone():
        assert not records.is_running(run), "another run may wait for an answer"


def test_the_run_that_worked_last_is_the_newest(folder: Folder) -> None:
    folder("a")
    records, up, preview = Records.of_folder(), Run("001-up", Verb.UP), Run("002-preview", Verb.PREVIEW)
    for second, run in enumerate((up, preview, up), 1):
        records.save(run)
        os.utime(records.folder(run) / "run.json", (second, second))
    assert records.newest() == up


def test_a_stack_that_has_not_succeeded_and_is_in_no_wave_any_more_is_named() -> None:
    entries = [Entry("one", Verb.UP, name) for name in "abcd"]
    for entry, result in zip(entries, (Result.OK, Result.FAILED, Result.RUNNING, Result.WAITING), strict=True):
        entry.result = result
    run, reasons = record.continued(Run("id", Verb.UP, entries=entries), [], {})
    gone = "up does not run, because no wave of this run includes it now."
    assert reasons == [f"b: failed; {gone}", f"c: was killed; {gone}", f"d: has not run; {gone}"]
    assert run.entries == []


def test_stack_file_overrides_and_package_decide_whether_a_result_holds(folder: Folder) -> None:
    place = folder("a")
    file, overrides = place / "Pulumi.a.yaml", place / "policies" / "overrides.yaml"
    seen = [inputs_of(file, "1"), inputs_of(file, "2")]
    overrides.parent.mkdir()
    overrides.write_text("waivers: []\n")
    seen.append(inputs_of(file, "1"))
    file.write_text(f"{file.read_text()} ")
    seen.append(inputs_of(file, "1"))
    assert len(set(seen)) == len(seen)
    assert inputs_of(file, "1") == seen[-1]


def test_the_revision_of_a_checkout_follows_its_commit_and_its_edits(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        own = ["-c", "user.name=n", "-c", "user.email=e@example.invalid"]
        subprocess.run(["git", "-C", tmp_path, *own, *arguments], check=True, capture_output=True)

    git("init")
    file = tmp_path / "infra" / "file"
    file.parent.mkdir()
    file.write_text("1")
    git("add", "infra")
    git("commit", "--message", "1")
    clean = revision(tmp_path)
    file.write_text("2")
    edited = revision(tmp_path)
    git("commit", "--all", "--message", "2")
    committed = revision(tmp_path)
    new_file = tmp_path / "infra" / "new file"
    seen = [clean, edited, committed]
    for content in "12":
        new_file.write_text(content)
        seen.append(revision(tmp_path))
    assert len(set(seen)) == len(seen)
    new_file.unlink()
    (tmp_path / "Pulumi.a.yaml").write_text("1")
    git("add", "Pulumi.a.yaml")
    assert revision(tmp_path) == committed
    git("commit", "--message", "3")
    assert revision(tmp_path) == committed, "a stack file is no part of the package"


def test_the_revision_of_a_wheel_follows_its_files_and_not_its_version_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        """The package as pip and uv record it."""

        def __init__(self, content: str) -> None:
            self.content = content

        def read_text(self, name: str) -> str | None:
            return f"workbench/__init__.py,sha256={self.content},1\n" if name == "RECORD" else None

    unknown = revision(tmp_path)
    monkeypatch.setattr(record, "is_from_wheel", lambda: True)
    monkeypatch.setattr(record, "git", lambda *_: pytest.fail("the image of a release has no Git"))
    seen = [unknown]
    for content in ("one", "two"):
        monkeypatch.setattr(record, "distribution", lambda _, content=content: Installed(content))
        seen.append(revision(tmp_path))
    assert len(set(seen)) == len(seen)
