"""When a stack cannot be compared; all of it without an engine, a cluster or a network."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.state_files import checkpoint, engine_lock, said, write
from workbench import stacks
from workbench.cli.app import app
from workbench.engine.backend import StateFiles
from workbench.engine.lock import stack_lock
from workbench.review.drift import compared
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain

URN = "urn:pulumi:local::igz-clusters::kubernetes:core/v1:Namespace::mlrun"
CREATING = {"type": "creating", "resource": {"urn": URN, "type": "kubernetes:core/v1:Namespace"}}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    return tmp_path


def refusal() -> UserError:
    with pytest.raises(UserError) as caught:
        compared(stacks.find("local"), Toolchain({}))
    return caught.value


@contextmanager
def process(program: str, *arguments: str, descriptors: tuple[int, ...] = ()) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", f"{program}; import time; print('ready', flush=True); time.sleep(60)", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=descriptors) as started:
        assert started.stdout
        started.stdout.readline()
        try:
            yield started
        finally:
            started.kill()


def test_a_stack_that_was_never_up_has_nothing_to_compare(data: Path) -> None:
    refused = refusal()
    assert refused.message == "The stack 'local' is not deployed; there is nothing to compare."
    assert refused.hint == "`igz-clusters up local` starts it."
    assert not (data / "owners").exists()
    assert not (data / "stacks").exists()


def test_a_run_under_way_is_named(data: Path) -> None:
    take = "from workbench.engine.lock import stack_lock; held = stack_lock('local', 'up'); held.__enter__()"
    with process(take) as run:
        refused = refusal()
    assert f"is being changed by `igz-clusters up` (process {run.pid}, since " in refused.message
    assert refused.hint == "Run the command again when it ends."


def test_the_engines_lock_of_a_run_in_another_container_is_not_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    engine_lock(StateFiles("local"), said(2**22 + 1))
    with stack_lock("local", "up"):
        monkeypatch.setattr("workbench.system.locks.holders", lambda _: [])
        assert refusal().message == "The stack 'local' is locked by processes that are not visible here."
    assert "is stale" in refusal().message


def test_what_a_killed_run_left_is_named_with_the_way_to_mend_it(data: Path) -> None:
    with stack_lock("local", "up") as lock:
        left = process("pass", descriptors=(lock,))
        child = left.__enter__()
    try:
        refused = refusal()
    finally:
        left.__exit__(None, None, None)
    assert f"was killed, but its processes still change the stack 'local': {child.pid} " in refused.message
    assert refused.hint == "`igz-clusters recover local` repairs it."


@pytest.mark.parametrize(
    ("content", "words"),
    [(checkpoint(URN, pending_operations=[CREATING]), "creating Namespace mlrun"), (b"", "the file is empty")],
    ids=["operations under way", "a damaged file"],
)
def test_a_state_that_must_be_mended_is_not_compared(content: bytes, words: str) -> None:
    write(StateFiles("local").current, content)
    refused = refusal()
    assert words in refused.message
    assert refused.hint == "`igz-clusters recover local` repairs it."


def test_a_control_plane_that_does_not_run_is_not_started(data: Path) -> None:
    write(StateFiles("local").current, checkpoint(URN))
    assert refusal().message == "The control plane 'local' is not running."
    assert not (data / "local").exists()


def test_a_stack_that_cannot_be_compared_is_neither_drift_nor_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.cli.drift.ensure", lambda *_, **__: Toolchain({}))
    done = CliRunner().invoke(app, ["drift", "local", "--json"])
    (stack,) = json.loads(done.stdout)["stacks"]
    assert (done.exit_code, stack["outcome"], stack["source"]) == (3, "unjudged", "drift")
    assert "is not deployed" in stack["problems"][0]


def test_the_owner_of_a_local_stack_is_only_read(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.cli.drift.ensure", lambda *_, **__: Toolchain({}))
    write(StateFiles("local").current, checkpoint(URN))
    (data / "owners").mkdir()
    (link := data / "owners" / "local").symlink_to(data / "gone" / "Pulumi.local.yaml")
    done = CliRunner().invoke(app, ["drift", "local"])
    assert f"note: Cluster and state 'local' on this machine belong to {link.readlink()}." in done.stderr
    assert link.readlink() == data / "gone" / "Pulumi.local.yaml"
    (data / "gone").mkdir()
    link.readlink().touch()
    refused = CliRunner().invoke(app, ["drift", "local", "--json"])
    (stack,) = json.loads(refused.stdout)["stacks"]
    assert (refused.exit_code, stack["outcome"]) == (3, "unjudged")
    assert f"belong to {link.readlink()}" in stack["problems"][0]


def test_an_unknown_stack_is_a_wrong_argument_and_no_drift() -> None:
    done = CliRunner().invoke(app, ["drift", "lokal", "--json"])
    assert done.exit_code == 2, "to a script 1 means drift"
    assert "Did you mean 'local'?" in " ".join(done.stderr.split())


def test_the_events_of_two_stacks_do_not_go_into_one_file(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["drift", "local", "dev", f"--events={tmp_path / 'events'}"])
    assert done.exit_code == 2, "to a script 1 means drift"
    assert "takes the event stream of one stack: one of local, dev" in " ".join(done.stderr.split())


def cloud(folder: Path, *manifests: str) -> Toolchain:
    """A stand-in for the engine with a backend, in which the state has one of ``manifests`` at each export."""
    for number, time in enumerate(manifests):
        (folder / f"export-{number}").write_text(json.dumps({"deployment": {"manifest": {"time": time}}}))
    program = folder / "pulumi"
    program.write_text(
        f"""#!/bin/sh
cd {folder}
echo "$*" "$PULUMI_K8S_DELETE_UNREACHABLE" "$PULUMI_K8S_SKIP_UPDATE_UNREACHABLE" >>calls
case "$*" in
*export*) cat export-$(grep -c export <calls | sed 's/1/0/;s/2/1/') ;;
*refresh*) for last; do :; done; echo '{{"sequence":0,"timestamp":0,"cancelEvent":{{}}}}' >"$last" ;;
esac
"""
    )
    program.chmod(0o700)
    return Toolchain({"pulumi": program})


def test_a_cloud_is_only_looked_at_and_must_answer_whatever_the_user_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    monkeypatch.setenv("PULUMI_K8S_SKIP_UPDATE_UNREACHABLE", "true")
    assert compared(stacks.find("dev"), cloud(tmp_path, "noon", "noon")).events.endswith(b'"cancelEvent":{}}\n')
    before, looked, after = (tmp_path / "calls").read_text().splitlines()
    assert before.startswith("stack export ")
    assert after.startswith("stack export ")
    assert looked.startswith(
        "refresh --preview-only --skip-preview=false --run-program=false --non-interactive --event-log /"
    )
    assert looked.endswith(" false false")


def test_a_state_that_moved_meanwhile_is_not_judged(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="was changed during the comparison"):
        compared(stacks.find("dev"), cloud(tmp_path, "noon", "a minute later"))
