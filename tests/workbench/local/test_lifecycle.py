import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from support.cluster import eventually
from workbench.local import Binaries, Instance
from workbench.local.layout import Layout
from workbench.local.ports import is_free
from workbench.local.prepare import prepare
from workbench.local.state import Settings
from workbench.system.errors import UserError

pytestmark = pytest.mark.control_plane


@dataclass(frozen=True)
class Replaced:
    """All programs but one, which is a shell script."""

    binaries: Binaries
    name: str
    script: Path

    def path(self, name: str) -> Path:
        return self.script if name == self.name else self.binaries.path(name)


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def instance(own_data: Path) -> Iterator[Instance]:
    """One for all tests of this file; it may run already when a test begins."""
    instance = Instance("life")
    yield instance
    instance.stop()


def processes(instance: Instance) -> list[psutil.Process]:
    return [psutil.Process(pid) for pid in instance.status().pids.values()]


def is_gone(process: psutil.Process) -> bool:
    # A process without a parent that reaps it stays as a zombie: it holds nothing any more.
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_a_second_start_changes_nothing_and_stop_leaves_no_process_and_no_listener(
    instance: Instance, toolchain_bin: Binaries, record_property: Callable[[str, object], None]
) -> None:
    instance.stop()
    begin = time.monotonic()
    assert instance.start(toolchain_bin)
    record_property("seconds_until_ready", round(time.monotonic() - begin, 2))
    first = instance.status()
    assert not instance.start(toolchain_bin)
    assert instance.status().pids == first.pids
    assert {part.state for part in first.components if part.name != "cluster-autoscaler"} == {"ready"}

    was = processes(instance)
    assert instance.stop()
    assert all(is_gone(each) for each in was)
    assert all(is_free(port) for port in first.ports.values())
    assert not instance.stop()


def test_data_and_ports_survive_stop_and_start_and_nodes_are_simulated_again_at_once(
    instance: Instance,
    toolchain_bin: Binaries,
    kubectl: Callable[..., str],
    apply: Callable[..., None],
    get: Callable[..., Any],
) -> None:
    def ready() -> str:
        conditions = get(instance, "node", "kept")["status"].get("conditions", [])
        return next((str(each["status"]) for each in conditions if each["type"] == "Ready"), "")

    metadata = {"name": "kept", "annotations": {"kwok.x-k8s.io/node": "fake"}}
    instance.start(toolchain_bin)
    ports = instance.status().ports
    apply(instance, {"apiVersion": "v1", "kind": "Node", "metadata": metadata})
    eventually(lambda: ready() == "True")
    instance.stop()

    instance.start(toolchain_bin)
    assert instance.status().ports == ports
    assert ready() == "True"
    # Within 40 s the simulator's last run would still hold the node's lease, were it not released.
    kubectl(instance, "annotate", "node", "kept", "igz-clusters.io/simulate=not-ready")
    eventually(lambda: ready() == "False")


def test_killing_the_supervisor_takes_all_components_with_it_and_start_recovers_at_once(
    instance: Instance, toolchain_bin: Binaries
) -> None:
    instance.start(toolchain_bin)
    was, ports = processes(instance), instance.status().ports
    os.kill(instance.status().pids["supervisor"], signal.SIGKILL)
    eventually(lambda: not instance.status().running)
    assert instance.start(toolchain_bin)
    assert all(is_gone(each) for each in was)
    assert instance.status().ready
    assert instance.status().ports == ports


def test_a_killed_scheduler_is_started_again(instance: Instance, toolchain_bin: Binaries) -> None:
    instance.start(toolchain_bin)
    before = instance.status().pids
    os.kill(before["kube-scheduler"], signal.SIGKILL)

    def restarted() -> bool:
        part = next(each for each in instance.status().components if each.name == "kube-scheduler")
        return part.state == "ready" and part.restarts == 1

    eventually(restarted)
    after = instance.status().pids
    assert {name for name in before if before[name] != after[name]} == {"kube-scheduler"}


def test_two_instances_run_side_by_side(instance: Instance, toolchain_bin: Binaries, get: Callable[..., Any]) -> None:
    other = Instance("other")
    try:
        instance.start(toolchain_bin)
        other.start(toolchain_bin)
        assert set(instance.status().ports.values()).isdisjoint(other.status().ports.values())
        other.stop()
        assert not other.status().running
        assert get(instance, "namespace", "default")
    finally:
        other.delete()
    assert not other.kubeconfig.exists()


@pytest.mark.full
def test_a_port_that_a_stranger_took_is_replaced_in_the_kubeconfig_too(
    instance: Instance, toolchain_bin: Binaries, get: Callable[..., Any]
) -> None:
    instance.start(toolchain_bin)
    instance.stop()
    taken = instance.status().ports["kube-apiserver"]
    with socket.create_server(("127.0.0.1", taken)):
        instance.start(toolchain_bin)
        server = yaml.safe_load(instance.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
        assert server == f"https://127.0.0.1:{instance.status().ports['kube-apiserver']}"
        assert not server.endswith(f":{taken}")
        assert get(instance, "namespace", "default")


@pytest.mark.full
def test_a_port_taken_after_it_was_chosen_is_replaced(
    instance: Instance, toolchain_bin: Binaries, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_the_first(layout: Layout, programs: dict[str, str]) -> None:
        prepare(layout, programs)
        if not taken:
            taken.append(Settings.load(layout).ports["kube-scheduler"])
            stack.enter_context(socket.create_server(("127.0.0.1", taken[0])))

    instance.stop()
    taken: list[int] = []
    monkeypatch.setattr("workbench.local.instance.prepare", lose_the_first)
    with ExitStack() as stack:
        assert instance.start(toolchain_bin)
        assert instance.status().ready
        assert instance.status().ports["kube-scheduler"] != taken[0]


@pytest.mark.full
def test_start_with_other_programs_says_so_and_restarts(
    instance: Instance, toolchain_bin: Binaries, tmp_path: Path
) -> None:
    told: list[str] = []
    instance.start(toolchain_bin)
    before = instance.status().pids
    kwok = script(tmp_path / "kwok", f'exec "{toolchain_bin.path("kwok")}" "$@"')
    assert instance.start(Replaced(toolchain_bin, "kwok", kwok), told.append)
    assert any("its programs have changed" in text for text in told)
    assert set(before.values()).isdisjoint(instance.status().pids.values())


def test_a_component_that_cannot_start_is_named_with_its_log_and_nothing_is_left_running(
    instance: Instance, toolchain_bin: Binaries, tmp_path: Path
) -> None:
    instance.stop()
    broken = script(tmp_path / "kube-scheduler", "echo out of luck; exit 1")
    with pytest.raises(UserError) as caught:
        instance.start(Replaced(toolchain_bin, "kube-scheduler", broken))
    assert "kube-scheduler failed" in caught.value.message
    assert "out of luck" in caught.value.message
    assert str(instance.logs("kube-scheduler")) in caught.value.message
    assert not instance.status().running
    assert all(is_free(port) for port in instance.status().ports.values())
