import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from support.cluster import eventually
from workbench.local import Instance, instance, instances
from workbench.local.layout import Layout
from workbench.local.state import ComponentStatus, State
from workbench.system.errors import UserError


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["a", "dev", "team-1", "0", "x" * 63])
def test_a_dns_label_names_an_instance(name: str) -> None:
    assert Instance(name).name == name


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a.b", "a/b", "..", "a_b", "a\n", "x" * 64])
def test_no_other_text_names_an_instance(name: str) -> None:
    with pytest.raises(UserError, match="is not a valid name of a local control plane"):
        Instance(name)


SUPERVISOR = """
import signal, subprocess, sys, time
if sys.argv[1] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", sys.argv[3]], pass_fds=[int(sys.argv[2])])
print(child.pid, flush=True)
time.sleep(600)
"""


class Supervised:
    """An instance whose supervisor a stand-in plays, with one component, which holds the lock too."""

    def __init__(self, kind: str, child_seconds: float) -> None:
        layout = Layout.of("one")
        lock = layout.acquire()
        command = [sys.executable, "-c", SUPERVISOR, kind, str(lock), str(child_seconds)]
        self.process = subprocess.Popen(command, pass_fds=[lock or 0], stdout=subprocess.PIPE, text=True)
        os.close(lock or 0)
        assert self.process.stdout
        self.child = psutil.Process(int(self.process.stdout.readline()))
        created = psutil.Process(self.process.pid).create_time()
        State(
            self.process.pid, created, "", ready=True, components=(ComponentStatus("etcd", "ready", self.child.pid),)
        ).save(layout)


@pytest.fixture
def supervised(request: pytest.FixtureRequest) -> Iterator[Supervised]:
    made = Supervised(*request.param)
    yield made
    for process in (made.process, made.child):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    made.process.wait()


@pytest.mark.parametrize("supervised", [("ordinary", 0.5)], indirect=True)
def test_a_suspended_supervisor_is_stopped_in_order_and_at_once(supervised: Supervised) -> None:
    psutil.Process(supervised.process.pid).suspend()
    begin = time.monotonic()
    assert Instance("one").stop()
    assert time.monotonic() - begin < instance.STOP_SECONDS / 2


@pytest.mark.parametrize("supervised", [("deaf", 2)], indirect=True)
def test_processes_of_a_killed_supervisor_may_take_a_moment_to_end(
    supervised: Supervised, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instance, "STOP_SECONDS", 0.2)
    assert Instance("one").stop()


@pytest.mark.parametrize("supervised", [("ordinary", 600)], indirect=True)
def test_a_process_with_the_id_of_a_supervisor_of_another_container_is_left_alone(
    supervised: Supervised, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        State(other.pid, time.time(), "", ready=True).save(Layout.of("one"))
        assert not Instance("one").status().running
        monkeypatch.setattr(instance, "STOP_SECONDS", 0.2)
        with pytest.raises(UserError, match="'one' is in use by processes that are not visible here"):
            Instance("one").stop()
        assert (other.poll(), supervised.process.poll()) == (None, None)
        other.kill()


@pytest.mark.parametrize("supervised", [("ordinary", 600)], indirect=True)
def test_a_supervisor_that_this_user_may_not_end_is_named(
    supervised: Supervised, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(process: psutil.Process) -> None:
        raise psutil.AccessDenied(process.pid)

    monkeypatch.setattr(psutil.Process, "terminate", denied)
    with pytest.raises(UserError, match=f"in use by process {supervised.process.pid}, which this user may not end"):
        Instance("one").stop()


@pytest.mark.parametrize("supervised", [("ordinary", 600)], indirect=True)
@pytest.mark.parametrize("name", ["etcd", "supervisor"])
def test_a_suspended_process_is_not_ready_and_named(supervised: Supervised, name: str) -> None:
    assert Instance("one").status().ready
    process = supervised.child if name == "etcd" else psutil.Process(supervised.process.pid)
    process.suspend()
    eventually(lambda: process.status() == psutil.STATUS_STOPPED)
    status = Instance("one").status()
    assert (status.running, status.ready, status.suspended) == (True, False, (f"{process.pid} {name}",))
    assert status.components[0].state == ("suspended" if name == "etcd" else "ready")
    with pytest.raises(UserError) as caught:
        Instance("one")._require_awake()
    assert f"a signal suspended {process.pid} {name}" in caught.value.message
    assert f"`kill -CONT {process.pid}` continues it" in caught.value.hint


def test_looking_at_an_instance_that_never_was_leaves_no_trace(data: Path) -> None:
    instance = Instance("never")
    status = instance.status()
    assert (status.running, status.ready, status.pids, status.age) == (False, False, {}, None)
    assert not instance.stop()
    instance.delete()
    assert instances() == []
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("supervised", [("ordinary", 600)], indirect=True)
def test_an_instance_with_other_programs_is_not_stopped_while_another_process_uses_it(supervised: Supervised) -> None:
    def used() -> Any:
        raise UserError("used")

    others = Mock(**{"path.return_value": Path(sys.executable)})
    with pytest.raises(UserError, match="used"):
        Instance("one").start(others, alone=used)
    assert supervised.process.poll() is None


def test_an_instance_made_while_the_last_of_its_name_is_deleted_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout.of("one")
    os.close(layout.acquire() or 0)
    made, rmtree = list[int](), shutil.rmtree

    def deleting(folder: Path, **options: Any) -> None:
        if lock := layout.acquire():
            made.append(lock)
            layout.settings.touch()
        rmtree(folder, **options)

    monkeypatch.setattr(shutil, "rmtree", deleting)
    Instance("one").delete()
    assert len(made) == 1
    assert layout.settings.exists()
    assert layout.acquire() is None
    os.close(made[0])


def test_what_cannot_be_deleted_is_named_and_no_instance(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    layout = Layout.of("one")
    os.close(layout.acquire() or 0)
    with monkeypatch.context() as failing:
        failing.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(UserError, match=r"these files could not be deleted: .*/local/\.one/lock\.\n"):
            Instance("one").delete()
    assert instances() == []
    os.close(layout.acquire() or 0)
    Instance("one").delete()
    assert list((data / "local").iterdir()) == []


def test_the_lock_has_one_holder_at_a_time() -> None:
    layout = Layout.of("one")
    first = layout.acquire()
    assert first is not None
    assert layout.acquire() is None


def test_the_log_of_an_unknown_component_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UserError, match="etcd, kube-apiserver"):
        Instance("one").logs("../../etc/passwd")


def test_the_log_of_a_component_that_never_started_is_said_to_be_missing() -> None:
    with pytest.raises(UserError, match="has no log: it has never started"):
        Instance("one").logs("etcd")
