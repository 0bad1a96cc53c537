"""Three local stacks in three waves: a failure stops the third, and a killed run continues where it was."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from support.cluster import HANGS, Cluster, eventually, new_cluster
from workbench import stacks
from workbench.engine.lock import stack_lock
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

STACKS = ("fleet-a", "fleet-b", "fleet-c")


@dataclass(frozen=True)
class Fleet:
    """Three stacks in a folder of their own."""

    cluster: Cluster
    folder: Path

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.cluster.command("fleet", *arguments, check=False, IGZ_CLUSTERS_STACKS=str(self.folder))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return self.cluster.start("fleet", *arguments, IGZ_CLUSTERS_STACKS=str(self.folder))

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.command("status", "--json").stdout)
        return found

    def results(self) -> list[str]:
        return [row["result"] for row in self.report()["stacks"]]

    def logs(self, stack: str) -> list[Path]:
        return list(self.cluster.data.glob(f"fleet/*/*/{stack}-up.log"))


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    folder = tmp_path / "stacks"
    folder.mkdir()
    for name in STACKS:
        (folder / f"Pulumi.{name}.yaml").write_text((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    waves = [{"name": f"wave-{name}", "stacks": [name]} for name in STACKS]
    (folder / "fleet.yaml").write_text(json.dumps({"atOnce": 2, "waves": waves}))
    with new_cluster(tmp_path / "data", is_quick=True) as cluster:
        monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(cluster.data))
        monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(folder))
        yield Fleet(cluster, folder)


def killed_in_the_middle(fleet: Fleet) -> None:
    """Kill a run and all its processes while the engine creates what the second stack declares."""
    run = fleet.start("resume", "--yes")

    def has_begun() -> bool:
        assert run.poll() is None, run.communicate()
        streams = fleet.cluster.data.glob("fleet/*/*/fleet-b-up.jsonl")
        return any(b'"resOutputsEvent"' in each.read_bytes() for each in streams)

    eventually(has_begun)
    command = psutil.Process(run.pid)
    children = command.children(recursive=True)
    # The control plane, which it started too, has a session of its own.
    processes = [command, *(each for each in children if os.getsid(each.pid) == os.getsid(run.pid))]
    for process in processes:
        process.suspend()  # so that none can end in order
    for process in processes:
        process.kill()
    run.communicate(timeout=HANGS)


def test_a_failure_stops_later_waves_and_a_killed_run_continues(fleet: Fleet) -> None:
    with stack_lock("fleet-b", "up"):  # as if another terminal changed it
        failed = fleet.command("up", "--yes", "--hermetic")
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert fleet.results() == ["ok", "failed", "waiting"]
    assert "The stack 'fleet-b' is being changed by `igz-clusters up`" in fleet.report()["stacks"][1]["problem"]
    assert fleet.logs("fleet-c") == [], "the third wave did not begin"
    (finished,) = fleet.logs("fleet-a")
    before = finished.read_bytes()

    killed_in_the_middle(fleet)
    assert fleet.report()["state"] == "killed"
    assert fleet.results() == ["ok", "running", "waiting"]

    resumed = fleet.command("resume", "--yes")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert "fleet-b: was killed; up runs again." in resumed.stderr
    assert "The stack 'fleet-b' is in order" in fleet.logs("fleet-b")[0].read_text()
    assert fleet.results() == ["ok", "ok", "ok"]
    assert finished.read_bytes() == before, "what had ended well did not run again"

    (fleet.folder / "one.yaml").write_text('waves: [{name: all, stacks: ["*"]}]')
    together = fleet.command("up", "--yes", "--hermetic", "--fleet", str(fleet.folder / "one.yaml"), "--at-once", "3")
    assert together.returncode == 0, together.stdout + together.stderr
    assert "up finished: 3 updated" in together.stdout

    compared = fleet.command("drift", "--hermetic")
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert "drift: 3 unchanged" in compared.stdout
