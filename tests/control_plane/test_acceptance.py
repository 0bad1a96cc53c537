"""The acceptance run on every kind of cluster, with real API servers, and killed at moments at which it cleans up."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.cloud_account import CloudAccount
from support.cluster import Cluster, eventually, new_cluster
from support.sampled import sampled
from support.simulated_nodes import Aks, Eks, Simulation, simulated
from support.site import STACK, site
from workbench.acceptance.run import STEPS

pytestmark = pytest.mark.control_plane

SMALLER: Mapping[str, Any] = {"policyGuard": "off", "pools__jupyter": None, "pools__gpu": None}
"""Changes of a stack whose acceptance takes half as long."""

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


@pytest.mark.proofs  # the steps inside the cluster are those of the test above
def test_on_an_existing_cluster(tmp_path: Path) -> None:
    with site(tmp_path) as theirs:
        before, file = theirs.snapshot(), theirs.file.read_text()
        printed = ended(theirs.cluster.start("accept", STACK, "--yes", "--hermetic", **theirs.environment()))
        skipped = but("claim", "autoscaler sizes", "pool replaced")
        assert results(theirs.cluster.data, f"{STACK}-accept") == skipped, printed[-6000:]
        assert theirs.snapshot() == before
        assert theirs.file.read_text() == file


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "simulation", "stack", "changes"),
    [
        # Notebooks and GPUs have pods on this machine, and plans are examined in test_collisions.py and test_losses.py.
        pytest.param(Account, Eks, "dev", SMALLER, id="AWS, smaller"),
        pytest.param(Account, Eks, "dev", {}, id="AWS", marks=pytest.mark.proofs),
        # The same steps; test_aks_life.py and test_aks_changes.py show what is Azure's own in a fifth of the time.
        pytest.param(Subscription, Aks, "aks-dev", {}, id="Azure", marks=pytest.mark.proofs),
    ],
)
def test_on_the_emulators(
    tmp_path: Path, kind: type[CloudAccount], simulation: type[Simulation], stack: str, changes: Mapping[str, Any]
) -> None:
    with kind.opened(tmp_path, stack, is_quick=True) as made, simulated(simulation(made)):
        if changes:
            made.edit(stack, **changes)
        before = made.emulator.inventory()
        printed = ended(made.start("accept", stack, "--yes", "--hermetic"))
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


MOMENTS = ("up", "pods", "kill and recover", "destroy")

RUNS_UP = ("up", "unchanged up", "autoscaler sizes", "change in place", "pool replaced")
"""Steps that are killed while the engine works on the copy; the others as soon as they begin."""


def _is_up(process: psutil.Process) -> bool:
    try:
        return "up" in process.cmdline()
    except psutil.Error:  # it has ended
        return False


def killed_in(made: Cluster, step: str) -> None:
    """Start the run, or continue it, and kill it in a step with all processes of its group."""
    folder, began = made.data / "acceptance" / "local-accept", time.time()
    process = made.start("accept", "local", "--yes", "--hermetic")
    assert process.stdout
    printed = []
    for line in process.stdout:
        printed.append(line)
        if line.startswith("[") and f"] {step}: " in line:
            break
    else:
        pytest.fail(f"not killed in {step}:\n{''.join(printed)[-6000:]}")
    if step in RUNS_UP:
        events = folder / "events.jsonl"
        eventually(lambda: process.poll() is not None or (events.exists() and events.stat().st_mtime > began))
    started = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=600)
    # An `up` of the run has a group of its own, and goes on: a user waits for it, as the message says.
    own_groups = [each for each in started if _is_up(each)]
    psutil.wait_procs(own_groups, timeout=600)
    assert record(made.data, "local-accept")["state"] == "running"


def clean_up(made: Cluster) -> None:
    """Run the offered clean-up and look for what it left."""
    made.command("accept", "local", "--clean-up", "--yes", "--hermetic")
    folder = made.data / "acceptance" / "local-accept"
    assert record(made.data, "local-accept")["state"] == "cleaned up"
    assert not (made.data / "local" / "local-accept").exists()
    assert not (folder / "Pulumi.local-accept.yaml").exists()
    assert list((made.data / "owners").iterdir()) == []
    needle = str(made.data)
    assert not [
        each.info["cmdline"]
        for each in psutil.process_iter(["cmdline"])
        if any(needle in word for word in each.info["cmdline"] or ())
    ]


@pytest.mark.kills
def test_killed_in_every_step_it_continues_and_is_cleaned_up_after_the_last(killed: Cluster) -> None:
    steps = [name for name in ALL if name != "claim"]  # which no local stack has
    for index, step in enumerate(steps):
        killed_in(killed, step)
        expected = dict.fromkeys(steps[:index], "passed")
        seen = {name: result for name, result in results(killed.data, "local-accept").items() if result == "passed"}
        assert seen == expected
    clean_up(killed)


@pytest.mark.full
@pytest.mark.parametrize("step", sampled(MOMENTS, ["up"], others=pytest.mark.kills))
def test_killed_in_a_step_it_is_cleaned_up_by_one_command(killed: Cluster, step: str) -> None:
    killed_in(killed, step)
    clean_up(killed)
