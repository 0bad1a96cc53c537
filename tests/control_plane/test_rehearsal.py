"""`igz-clusters rehearse` as a user runs it, while its control plane or the command itself is ended."""

import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from support.cluster import eventually
from workbench.local import Instance, instances, remove_abandoned
from workbench.rehearsal.cluster.api import KubeApi
from workbench.rehearsal.cluster.simulation import PREFIX
from workbench.rehearsal.play.labels import WORK
from workbench.system.paths import FOLDER_VARIABLE, PROJECT_ROOT

pytestmark = pytest.mark.control_plane

RUN = "from workbench.cli import main; main()"
SCENARIO = """\
description: A job that outlasts everything
lasts: {lasts}
works:
  job: {{ kind: mlrun-job, cpu: "1", memory: 1Gi }}
arrivals: [{{ work: job }}]
expectations: [{{ expect: survives, work: job }}]
"""
TIGHT = """\
description: Too many jobs at once
lasts: 10m
works:
  job: { kind: mlrun-job, cpu: "6", memory: 1Gi, mode: prevent }
arrivals: [{ work: job, count: 12 }]
expectations: [{ expect: waits-at-most, work: job, time: 5m }]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of its own, and scenarios: one that plays for hours, and two that end soon, one with a miss."""
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv(FOLDER_VARIABLE, str(PROJECT_ROOT))
    (tmp_path / "long.yaml").write_text(SCENARIO.format(lasts="10d"))
    (tmp_path / "short.yaml").write_text(SCENARIO.format(lasts="2m"))
    (tmp_path / "tight.yaml").write_text(TIGHT)
    return tmp_path


@contextmanager
def playing(
    folder: Path, *names: str, options: tuple[str, ...] = (), after: str = ""
) -> Iterator[tuple[subprocess.Popen[str], Instance]]:
    """Run the command until a scenario plays: its job is in the simulated cluster. ``after``: what it said before."""
    files = [f"--scenario={folder / name}.yaml" for name in names]
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        run = subprocess.Popen(
            [sys.executable, "-c", RUN, "rehearse", "local", *files, *options, "--at-once", "1", "--json"],
            cwd=PROJECT_ROOT, stdout=out, stderr=err, text=True)  # fmt: skip
    try:
        eventually(lambda: run.poll() is not None or "placing" in said(folder, after))
        assert run.poll() is None, said(folder)
        instance = Instance(instances()[0])
        api = KubeApi(instance.kubeconfig, lambda: "")
        try:
            eventually(lambda: run.poll() is not None or api.get(f"/api/v1/pods?labelSelector={WORK}=job")["items"])
        finally:
            api.close()
        assert run.poll() is None, said(folder)
        yield run, instance
    finally:
        if run.poll() is None:
            run.kill()
            run.wait(60)
            remove_abandoned(PREFIX)


def said(folder: Path, after: str = "") -> str:
    text = (folder / "err").read_text()
    return text[text.find(after) :] if after in text else ""


def is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


@pytest.mark.full
@pytest.mark.parametrize(
    "component",
    [
        *(pytest.param(name, marks=pytest.mark.proofs) for name in ("kube-scheduler", "kwok", "etcd")),
        "kube-apiserver",
        "cluster-autoscaler",
    ],
)
def test_a_killed_component_leaves_its_scenario_without_a_verdict_and_others_go_on(
    folder: Path, component: str
) -> None:
    with playing(folder, "long", "short") as (run, instance):
        os.kill(instance.status().pids[component], signal.SIGKILL)
        eventually(lambda: run.poll() is not None)  # the long one would play for hours
    assert run.returncode == 3, said(folder)
    assert "local long: no verdict: " in said(folder)
    document = json.loads((folder / "out").read_text())
    assert [(each["scenario"], each["isMet"]) for each in document["outcomes"]] == [("long", False), ("short", True)]
    assert document["outcomes"][0]["lost"]
    assert document["isMet"] is False
    assert not instances()


@pytest.mark.parametrize(
    "number",
    [
        *(pytest.param(each, marks=pytest.mark.full) for each in (signal.SIGINT, signal.SIGKILL)),
        *(pytest.param(each, marks=pytest.mark.kills) for each in (signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_a_signal_during_the_play_leaves_no_process_no_folder_and_no_result(
    folder: Path, number: signal.Signals
) -> None:
    with playing(folder, "long") as (run, instance):
        processes = [psutil.Process(pid) for pid in instance.status().pids.values()]
        assert len(processes) > 5
        run.send_signal(number)
        eventually(lambda: run.poll() is not None)
    assert run.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 130), said(folder)
    assert not (folder / "out").read_text()
    assert "Traceback" not in said(folder)
    eventually(lambda: not any(map(is_alive, processes)))
    if number == signal.SIGKILL:  # the next rehearsal removes the folder
        assert remove_abandoned(PREFIX) == [instance.name]
    assert not instances()


@pytest.mark.full
def test_ctrl_c_in_the_search_for_advice_ends_it_like_a_play(folder: Path) -> None:
    patch = folder / "change.patch"
    with playing(folder, "tight", options=("--advise", f"--patch={patch}"), after="1 of 1 expectations missed") as (
        run,
        instance,
    ):
        processes = [psutil.Process(pid) for pid in instance.status().pids.values()]
        assert len(processes) > 5
        scratch = instance.kubeconfig.parent
        assert scratch.is_dir()
        run.send_signal(signal.SIGINT)
        eventually(lambda: run.poll() is not None)
    assert run.returncode == 130, said(folder)
    assert not (folder / "out").read_text()
    assert not patch.exists()
    assert "Traceback" not in said(folder)
    eventually(lambda: not any(map(is_alive, processes)))
    assert not instances()
    assert not scratch.exists()


@pytest.mark.proofs
def test_two_runs_give_the_same_verdicts_and_pools() -> None:
    first, second = (played("systems", "spot-reclaim") for _ in range(2))
    for name, (verdicts, pools) in first.items():
        assert verdicts == second[name][0]
        assert pools == second[name][1]
    assert {name: len(pools) for name, (_, pools) in first.items()} == {"systems": 10, "spot-reclaim": 7}


def played(*names: str) -> dict[str, tuple[list[tuple[str, bool]], dict[str, list[str]]]]:
    """Play shipped scenarios and return, of each, the verdict of each expectation, and the pools of each unit's pods.

    How many pods a unit had is left out: timing decides whether the autoscaler empties a node, whose pods come back.
    """
    run = subprocess.run(
        [sys.executable, "-c", RUN, "rehearse", "local", *(f"--scenario={name}" for name in names), "--speed=120",
         "--json"], cwd=PROJECT_ROOT, capture_output=True, text=True, check=False)  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = {}
    for outcome in json.loads(run.stdout)["outcomes"]:
        pool_of = {node["name"]: node["pool"] for node in outcome["record"]["nodes"]}
        verdicts = [(each["expectation"], each["isMet"]) for each in outcome["verdicts"]]
        pools: dict[str, set[str]] = defaultdict(set)
        for pod in outcome["record"]["pods"]:
            if pod["work"] and pod["node"]:
                pools[pod["unit"]].add(pool_of[pod["node"]])
        found[outcome["scenario"]] = (verdicts, {unit: sorted(each) for unit, each in sorted(pools.items())})
    return found
