"""An instance keeps how it differs from the usual one, and what an ended process left behind is deleted."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import yaml

from workbench import local
from workbench.local import Instance, Owner, Tuning, instances, remove_abandoned
from workbench.local.components import components
from workbench.local.layout import Layout
from workbench.local.pki import CLIENTS
from workbench.local.prepare import prepare
from workbench.local.programs import PROGRAMS, fingerprint
from workbench.local.state import Settings

PORTS = dict.fromkeys((*PROGRAMS, "etcd-peer"), 1)
TUNING = Tuning(
    flags={"cluster-autoscaler": {"scan-interval": "1s", "nodes": ("a", "b")}},
    scheduler={"podMaxBackoffSeconds": 1},
    simulator={"podPlayStageParallelism": 9},
    emulated="1.35",
)


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    return Layout.of("tuned")


def ended() -> Owner:
    """Return a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = Owner(process.pid, psutil.Process(process.pid).create_time())
    assert owner.is_alive()
    process.communicate()
    return owner


def test_flags_replace_the_usual_ones_of_their_component_only(layout: Layout) -> None:
    usual, tuned = components(layout, PORTS), components(layout, PORTS, TUNING)
    autoscaler = tuned[-1].arguments
    assert [each for each in autoscaler if "scan-interval" in each or "--nodes" in each] == [
        "--scan-interval=1s",
        "--nodes=a",
        "--nodes=b",
    ]
    assert [each.arguments for each in tuned[2:3]] == [each.arguments for each in usual[2:3]]


def test_a_scheduler_with_a_file_of_its_own_has_no_flags_that_the_file_replaces(layout: Layout) -> None:
    [scheduler] = [each for each in components(layout, PORTS, TUNING) if each.name == "kube-scheduler"]
    assert f"--config={layout.scheduler}" in scheduler.arguments
    assert not [each for each in scheduler.arguments if each.startswith(("--kubeconfig", "--leader-elect"))]


def test_a_start_keeps_the_tuning_and_writes_its_files(layout: Layout, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.touch()
    programs = dict.fromkeys(PROGRAMS, str(program))
    Instance(layout.name).configure(TUNING)
    known = {"fingerprint": fingerprint(programs), "versions": {"kube-apiserver": "1.36.3"}}
    content = json.loads(layout.settings.read_text()) | known
    layout.settings.write_text(json.dumps(content))
    prepare(layout, programs)
    kept = Settings.load(layout)
    assert kept.tuning.flags["cluster-autoscaler"]["nodes"] == ["a", "b"]
    assert kept.emulated == "1.35"
    assert set(PROGRAMS) == set(kept.programs)
    scheduler = yaml.safe_load(layout.scheduler.read_text())
    assert scheduler["podMaxBackoffSeconds"] == 1
    assert scheduler["clientConnection"]["kubeconfig"] == str(layout.kubeconfig("kube-scheduler"))
    documents = [*yaml.safe_load_all(layout.stages.read_text())]
    assert [each["options"] for each in documents if each["kind"] == "KwokConfiguration"] == [TUNING.simulator]


def test_an_instance_without_a_tuning_has_no_files_of_one(layout: Layout, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.touch()
    programs = dict.fromkeys(PROGRAMS, str(program))
    layout.create()
    Settings(fingerprint=fingerprint(programs), versions={"kube-apiserver": "1.36.3"}).save(layout)
    prepare(layout, programs)
    assert not layout.scheduler.exists()
    assert "KwokConfiguration" not in layout.stages.read_text()


def test_only_instances_whose_owner_has_ended_are_removed(layout: Layout) -> None:
    gone = ended()
    for name, owner in {"try-gone": gone, "try-running": Owner.this(), "try-free": None, "other": gone}.items():
        Instance(name).configure(Tuning(owner=owner))
        (Layout.of(name).folder / "lock").touch()
    assert remove_abandoned("try-") == ["try-gone"]
    assert instances() == ["other", "try-free", "try-running"]


def test_a_process_that_got_the_id_of_an_owner_is_not_the_owner() -> None:
    this = Owner.this()
    assert not Owner(this.pid, this.created - 60).is_alive()


def test_an_owner_in_another_container_is_not_known_to_have_ended() -> None:
    gone = ended()
    assert not gone.is_alive()
    assert replace(gone, namespace="pid:[1]").is_alive()


def test_karpenter_runs_in_place_of_the_autoscaler_if_it_has_machines(layout: Layout, tmp_path: Path) -> None:
    machines = ({"name": "m6i.xlarge"},)
    tuned = Tuning(flags={"karpenter": {"speed": "60"}}, machines=machines)
    *core, last = components(layout, PORTS, tuned)
    assert [each.name for each in core] == list(PROGRAMS[:-1])
    assert last.name == "karpenter"
    assert {"--speed=60", f"--instance-types-file-path={layout.machines}"} <= set(last.arguments)
    assert last.environment == {"KUBECONFIG": str(layout.kubeconfig("karpenter"))}
    program = tmp_path / "program"
    program.touch()
    programs = dict.fromkeys(tuned.programs, str(program))
    Instance(layout.name).configure(tuned)
    known = {"fingerprint": fingerprint(programs), "versions": {"kube-apiserver": "1.36.3"}}
    layout.settings.write_text(json.dumps(json.loads(layout.settings.read_text()) | known))
    prepare(layout, programs)
    assert json.loads(layout.machines.read_text()) == list(machines)
    assert Settings.load(layout).tuning.programs == tuned.programs
    assert [each.name for each in Instance(layout.name).status().components] == list(tuned.programs)


def test_each_component_with_a_certificate_of_ours_has_its_own_rights() -> None:
    folder = Path(local.__file__).parent / "manifests"
    users = {
        subject["name"]
        for file in folder.glob("*.yaml")
        for each in yaml.safe_load_all(file.read_text())
        for subject in each.get("subjects", ())
    }
    ours = {client.user for client in CLIENTS if client.user.startswith("igz-clusters:") and not client.group}
    assert users == ours
    assert {f"igz-clusters:{file.stem}" for file in folder.glob("*.yaml")} == ours
