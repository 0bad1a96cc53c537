import errno
import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from support.state_files import checkpoint, engine_lock, said, write
from workbench.engine.backend import COPIES_KEPT, StateFiles
from workbench.recovery import state_findings
from workbench.system.errors import UserError

CREATING = {
    "type": "creating",
    "resource": {
        "urn": "urn:pulumi:local::igz-clusters::kubernetes:core/v1:Namespace::mlrun",
        "type": "kubernetes:core/v1:Namespace",
        "custom": True,
        "inputs": {"metadata": {"name": "mlrun"}},
    },
}
BUCKET = {"urn": "urn:bucket", "type": "aws:s3/bucket:Bucket", "custom": True, "inputs": {}}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateFiles:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    files = StateFiles("local")
    files.current.parent.mkdir(parents=True)
    return files


def repair() -> None:
    for finding in state_findings("local"):
        assert finding.repair
        finding.repair()


def test_a_stack_in_order_and_one_that_never_was_have_no_findings(files: StateFiles) -> None:
    assert state_findings("local") == []
    write(files.current, checkpoint("a"))
    assert state_findings("local") == []


@pytest.mark.parametrize("which", ["local.json", "local.json.attrs", "lock.json", "meta.yaml"])
def test_a_file_of_another_user_is_no_damage_and_nothing_is_touched(
    files: StateFiles, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    write(files.current.with_suffix(".json.bak"), checkpoint("before"))
    write(files.current, checkpoint("a"))
    lock = engine_lock(files, said(2**22 + 1)) if which == "lock.json" else None
    meta = files.current.parents[2] / "meta.yaml"
    meta.write_text("version: 1\n")
    denied = {"meta.yaml": meta, "lock.json": lock and lock.file}.get(which) or files.current.with_name(which)
    before = {file: file.read_bytes() for file in files.current.parents[2].rglob("*") if file.is_file()}
    read_bytes = Path.read_bytes

    def reading(file: Path) -> bytes:
        if file == denied:
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return read_bytes(file)

    monkeypatch.setattr(Path, "read_bytes", reading)
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_000)
    owner = pwd.getpwuid(denied.stat().st_uid).pw_name
    with pytest.raises(UserError) as caught:
        state_findings("local")
    assert caught.value.message == (
        f"Cannot access {denied}: Permission denied; it belongs to {owner}, and this command runs as user 4000000. "
        "It was not changed."
    )
    assert caught.value.hint == (
        f"Run the command as {owner}, or give the file back: `sudo chown -R user 4000000 {denied}`."
    )
    monkeypatch.undo()
    assert {file: file.read_bytes() for file in before} == before


def test_pending_operations_are_named_and_mended(files: StateFiles) -> None:
    write(files.current, checkpoint("a", pending_operations=[CREATING]))
    (finding,) = state_findings("local")
    assert finding.found == "A run was killed during 1 operation: creating Namespace mlrun."
    repair()
    assert state_findings("local") == []
    assert [each.get("id") for each in files.deployment()["resources"]] == [None, "mlrun"]


def test_what_cannot_be_resolved_is_left_to_the_user_with_the_way(files: StateFiles) -> None:
    write(files.current, checkpoint(pending_operations=[{"type": "creating", "resource": BUCKET}]))
    (finding,) = state_findings("local")
    assert finding.repair is None
    assert finding.remedy.startswith("Check whether urn:bucket exists")


def test_a_stale_lock_and_a_damaged_state_are_found_at_once_and_mended(files: StateFiles) -> None:
    write(files.current.with_suffix(".json.bak"), checkpoint("before"))
    write(files.current, b"")
    lock = engine_lock(files, said(2**22 + 1))
    stale, damaged = state_findings("local")
    assert stale.found.endswith("is stale: that process has ended.")
    assert damaged.found == f"The state file {files.current} is damaged: the file is empty."
    assert "with 1 resources" in damaged.remedy
    repair()
    assert state_findings("local") == []
    assert not lock.file.exists()
    assert [each["urn"] for each in files.deployment()["resources"]] == ["before"]


def test_a_lock_of_another_machine_is_not_ours_to_break(files: StateFiles) -> None:
    engine_lock(files, said(1, "elsewhere"))
    (finding,) = state_findings("local")
    assert finding.repair is None
    assert "was taken on another machine" in finding.found


def test_pending_operations_of_a_restored_copy_are_found_in_the_next_round(files: StateFiles) -> None:
    write(files.current.with_suffix(".json.bak"), checkpoint(pending_operations=[CREATING]))
    write(files.current, b"{")
    repair()
    (finding,) = state_findings("local")
    assert "creating Namespace mlrun" in finding.found


def test_while_somebody_works_on_the_stack_nothing_else_is_a_finding(files: StateFiles, tmp_path: Path) -> None:
    write(files.current, checkpoint(pending_operations=[CREATING]))
    engine = tmp_path / "pulumi"
    shutil.copy("/bin/sleep", engine)
    with subprocess.Popen([engine, "60"]) as process:
        engine_lock(files, said(process.pid))
        (finding,) = state_findings("local")
        process.kill()
    assert finding.found.endswith("is in use: `pulumi` is changing the stack.")
    assert finding.repair is None


def test_a_killed_engine_that_nobody_reaped_is_not_alive(files: StateFiles, tmp_path: Path) -> None:
    engine = tmp_path / "pulumi"
    shutil.copy("/bin/sleep", engine)
    process = subprocess.Popen([engine, "60"])
    lock = engine_lock(files, said(process.pid))
    process.kill()
    while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert not lock.is_alive
    process.wait()


@pytest.mark.parametrize("content", ["", "[]", '{"md5": 5}', '{"md5": "x"}'])
def test_a_checksum_that_cannot_be_read_is_damage_and_is_mended(files: StateFiles, content: str) -> None:
    write(files.current.with_suffix(".json.bak"), checkpoint("before"))
    write(files.current, checkpoint("now"))
    files.current.with_name("local.json.attrs").write_text(content)
    (finding,) = state_findings("local")
    assert "does not match its checksum" in finding.found
    repair()
    assert state_findings("local") == []


def test_a_damaged_note_about_the_backend_is_written_anew(files: StateFiles) -> None:
    note = files.current.parents[2] / "meta.yaml"
    write(note, b"version: 1\n")
    assert state_findings("local") == []
    note.with_name("meta.yaml.attrs").write_text("")
    repair()
    note.write_text("")
    repair()
    assert state_findings("local") == []
    assert note.read_text() == "version: 1\n"


def test_a_state_that_is_a_folder_is_set_aside(files: StateFiles) -> None:
    files.current.mkdir()
    repair()
    assert files.deployment() == {}


def test_a_pending_operation_that_says_nothing_is_damage(files: StateFiles) -> None:
    write(files.current, checkpoint(pending_operations=[{"type": "creating"}]))
    (finding,) = state_findings("local")
    assert "the file is not an engine state" in finding.found


def test_of_older_states_the_newest_are_kept_with_their_checksums(files: StateFiles) -> None:
    root, newest = files.current.parents[2], 1_700_000_000_000_000_030
    write(files.current, checkpoint("a"))
    write(files.current.with_suffix(".json.bak"), checkpoint("a"))
    for moment in range(newest - 29, newest + 1):
        for kind in ("history", "checkpoint"):
            write(root / "history" / "igz-clusters" / "local" / f"local-{moment}.{kind}.json", checkpoint("a"))
        write(root / "backups" / "igz-clusters" / "local" / f"local.{moment}.json", checkpoint("a"))
    files.drop_old_copies()
    assert len(files.copies()) == 1 + 2 * COPIES_KEPT
    kept = {file.name for file in (root / "history" / "igz-clusters" / "local").iterdir()}
    assert len(kept) == 4 * COPIES_KEPT
    assert {f"local-{newest}.checkpoint.json", f"local-{newest}.history.json.attrs"} <= kept
    assert state_findings("local") == []
