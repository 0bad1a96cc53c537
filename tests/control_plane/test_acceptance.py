"""The acceptance run on every kind of cluster, with real API servers, and killed at moments at which it cleans up."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.cloud_account import CloudAccount
from support.cluster import Cluster, eventually, new_cluster
from support.simulated_nodes import Aks, Eks, Simulation, simulated
from support.site import STACK, site
from workbench.acceptance.run import STEPS

pytestmark = pytest.mark.control_plane

DRIFT_PLANS = {"PULUMI_OPTION_SKIP_PREVIEW": "false"}
"""`drift` is a preview, which the quick accounts skip."""

ALL = [step.name for step in STEPS]


def ended(process: subprocess.Popen[str]) -> str:
    printed, _ = process.communicate(timeout=1800)
    return printed


def results(data: Path, copy: str) -> dict[str, str]:
    return {each["name"]: each["result"] for each in record(data, copy)["steps"]}


def record(data: Path, copy: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((data / "acceptance" / copy / "record.json").read_text())
    return found


def but(*skipped: str) -> Mapping[str, str]:
    return {name: "skipped" if name in skipped else "passed" for name in ALL}


@pytest.mark.full
def test_on_this_machine(tmp_path: Path) -> None:
    with new_cluster(tmp_path / "data") as made:
        made.data.mkdir(mode=0o700)
        printed = ended(made.start("accept", "local", "--yes", "--hermetic"))
        assert results(made.data, "local-accept") == but("claim"), printed[-6000:]
        assert not (made.data / "local" / "local-accept").exists()
        assert record(made.data, "local-accept")["seen"]["from zero"] == ["spot", "jupyter", "gpu"]


@pytest.mark.full
def test_on_an_existing_cluster(tmp_path: Path) -> None:
    with site(tmp_path) as theirs:
        before, file = theirs.snapshot(), theirs.file.read_text()
        printed = ended(
            theirs.cluster.start("accept", STACK, "--yes", "--hermetic", **theirs.environment() | DRIFT_PLANS)
        )
        skipped = but("claim", "autoscaler sizes", "pool replaced")
        assert results(theirs.cluster.data, f"{STACK}-accept") == skipped, printed[-6000:]
        assert theirs.snapshot() == before
        assert theirs.file.read_text() == file


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "simulation", "stack"), [(Account, Eks, "dev"), (Subscription, Aks, "aks-dev")], ids=["AWS", "Azure"]
)
def test_on_the_emulators(tmp_path: Path, kind: type[CloudAccount], simulation: type[Simulation], stack: str) -> None:
    with kind.opened(tmp_path, stack, is_quick=True) as made, simulated(simulation(made)):
        before = made.emulator.inventory()
        printed = ended(made.start("accept", stack, "--yes", "--hermetic", **DRIFT_PLANS))
        seen = record(tmp_path / "data", f"{stack}-accept")
        assert results(tmp_path / "data", f"{stack}-accept") == but(), printed[-6000:]
        assert made.emulator.inventory() == before
        assert seen["seen"]["from zero"]
        assert {each["verdict"] for each in seen["assumptions"]} <= {"confirmed", "consistent"}
        assert seen["assumptions"]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    data = tmp_path_factory.mktemp("killed") / "data"
    data.mkdir(mode=0o700)
    with new_cluster(data, is_quick=True) as made:
        yield made


MOMENTS = {"up": 0, "pods": 4, "kill and recover": 11, "destroy": 12}


@pytest.mark.parametrize(
    "step",
    [pytest.param(name, marks=[] if name in ("up", "pods") else pytest.mark.full) for name in MOMENTS],
)
def test_killed_in_a_step_it_is_cleaned_up_by_one_command(killed: Cluster, step: str) -> None:
    process = killed.start("accept", "local", "--yes", "--hermetic", **DRIFT_PLANS)
    assert process.stdout
    for line in process.stdout:
        if line.startswith("[") and f"] {step}: " in line:
            break
    folder = killed.data / "acceptance" / "local-accept"
    if step == "up":  # the engine works on it
        eventually((folder / "events.jsonl").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=600)
    assert record(killed.data, "local-accept")["state"] == "running"
    killed.command("accept", "local", "--clean-up", "--yes", "--hermetic")
    assert record(killed.data, "local-accept")["state"] == "cleaned up"
    assert not (killed.data / "local" / "local-accept").exists()
    assert not (folder / "Pulumi.local-accept.yaml").exists()
    assert list((killed.data / "owners").iterdir()) == []
