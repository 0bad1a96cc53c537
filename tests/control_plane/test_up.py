"""The main job as a whole: up, up again, stop, up."""

import json
import os
import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from components.contract.labels import OWN_DOMAIN, LabelKey
from components.contract.priorities import UserPriority
from components.contract.taints import OWN_SPOT_TAINT
from support.api import Api
from support.cluster import COMMAND, Cluster, changes, eventually, pod
from workbench.system.paths import PROJECT_ROOT

pytestmark = pytest.mark.control_plane

UNCHANGED = re.compile(r"\d+ unchanged")
SPOT = {LabelKey.USER_WORKLOADS.value: "true", LabelKey.LIFECYCLE.value: "preemptible"}


def condition(cluster: Cluster, node: str) -> str:
    conditions = cluster.get("node", node)["status"]["conditions"]
    return next(c["status"] for c in conditions if c["type"] == "Ready")


def checkout() -> str:
    """Return what is not committed."""
    command = ["git", "status", "--porcelain"]
    return subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True).stdout


@dataclass(frozen=True)
class Again:
    """A second `up`, and then a preview as JSON."""

    printed: str
    planned: str
    before: str
    after: str
    """What is not committed of the checkout."""


@pytest.fixture(scope="module")
def again(cluster: Cluster) -> Again:
    before = checkout()
    printed = cluster.command("up", "--hermetic", COLUMNS="200", IGZ_CLUSTERS_VERBOSE="").stdout
    planned = cluster.command("preview", "--json").stdout
    return Again(printed, planned, before, checkout())


def test_a_second_up_changes_nothing(again: Again) -> None:
    assert UNCHANGED.fullmatch(changes(again.printed))


def test_up_and_preview_write_nothing_into_the_checkout(again: Again) -> None:
    assert again.after == again.before


def test_plain_pulumi_works_with_the_exports(cluster: Cluster) -> None:
    environment = os.environ | cluster.exports()
    command = ["pulumi", "preview", "--non-interactive", "--expect-no-changes"]
    result = subprocess.run(command, cwd=PROJECT_ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "warning" not in result.stdout + result.stderr
    assert "igz-clusters@" in result.stdout


def test_preview_as_json_prints_the_engines_digest_and_nothing_else(again: Again) -> None:
    digest = json.loads(again.planned)
    assert digest["changeSummary"].keys() == {"same"}
    assert all("newState" in step for step in digest["steps"])


def test_up_says_what_there_is_and_how_to_go_on(again: Again) -> None:
    for pool in ("initial", "workload", "spot", "jupyter", "gpu"):
        assert re.search(
            rf"^{pool} +\w+ +(spot|on-demand)( +\d+(\.\.\d+)?){{2}} +\d+ +\d+ ", again.printed, re.MULTILINE
        ), pool
    for words in (
        "nvidia.com/gpu=present:NoSchedule",
        "igz-workload-medium",
        " rules evaluated",
        "get nodes",
        "local stop",
    ):
        assert words in again.printed, words


def test_up_changes_nothing_after_the_autoscaler_moved_and_a_node_came_back(cluster: Cluster) -> None:
    cluster.apply(pod("mover", nodeSelector=SPOT, tolerations=[OWN_SPOT_TAINT.toleration()]))
    simulate = f"{OWN_DOMAIN}/simulate"
    cluster.kubectl("annotate", "node", "initial-0", f"{simulate}=not-ready")
    eventually(lambda: condition(cluster, "initial-0") != "True")
    eventually(lambda: "taints" in cluster.get("node", "initial-0")["spec"])
    cluster.kubectl("annotate", "node", "initial-0", f"{simulate}-")
    eventually(lambda: condition(cluster, "initial-0") == "True")
    eventually(lambda: "taints" not in cluster.get("node", "initial-0")["spec"])
    eventually(lambda: cluster.pool_of("mover") == "spot")
    assert UNCHANGED.fullmatch(cluster.up())
    assert cluster.pool_of("mover") == "spot"


def test_status_as_json_gives_sizes_now_and_their_bounds(cluster: Cluster) -> None:
    status = json.loads(cluster.command("status", "--json").stdout)
    rows = {row["group"]: row for row in status["groups"]}
    initial, spot = rows["initial"]["recorded"], rows["spot"]["recorded"]
    assert (status["condition"], rows["initial"]["live"]["ready"], initial["min"], initial["max"]) == ("up", 2, 2, 2)
    assert (spot["pool"], spot["min"], spot["max"]) == ("spot", 0, 20)
    assert set(status["priorityClasses"]) == set(UserPriority)


def test_an_edit_without_an_update_is_shown_apart_from_what_is_live(cluster: Cluster, tmp_path: Path) -> None:
    edited = (PROJECT_ROOT / "Pulumi.local.yaml").read_text().replace("max: 20 }", "max: 21 }")
    (tmp_path / "Pulumi.local.yaml").write_text(edited)
    elsewhere = cluster.command("-C", str(tmp_path), "status", check=False)
    assert (elsewhere.returncode, elsewhere.stdout) == (1, ""), "the cluster belongs to another stack file"
    (cluster.data / "owners" / "local").unlink()
    lines = cluster.command("-C", str(tmp_path), "status").stdout.splitlines()
    assert not (cluster.data / "owners" / "local").exists(), "a command that changes nothing takes no name"
    now, unapplied = (line.split() for line in lines if line.startswith("spot "))
    assert now[3:5] == ["0..21", "0..20"]
    assert unapplied == ["spot", "size", "0..20", "0..21"]
    assert "Not applied yet; `igz-clusters up local` applies it:" in lines


def test_kubectl_and_kubeconfig_reach_the_cluster_and_env_has_both_programs(cluster: Cluster) -> None:
    assert "node/initial-0" in cluster.command("kubectl", "local", "get", "nodes", "-o", "name").stdout
    refused = cluster.command("kubectl", "local", "get", "nothing", check=False)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert cluster.command("kubeconfig").stdout.strip() == str(cluster.kubeconfig())
    script = 'eval "$($0 env --hermetic)"; pulumi version; kubectl get nodes -o name'
    shown = subprocess.run(
        ["sh", "-euc", script, COMMAND],
        cwd=PROJECT_ROOT,
        env={**cluster.environment, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.match(r"v?3\.", shown)
    assert "node/initial-0" in shown


def test_down_leaves_no_process_and_no_port_and_up_brings_the_same_cluster_back(cluster: Cluster) -> None:
    def own_processes() -> list[psutil.Process]:
        return [p for p in psutil.process_iter(["cmdline"]) if str(cluster.data) in " ".join(p.info["cmdline"] or [])]

    identity = cluster.get("namespace", "kube-system")["metadata"]["uid"]
    ports = {c.laddr.port for p in own_processes() for c in p.net_connections() if c.status == psutil.CONN_LISTEN}
    assert own_processes()
    assert ports
    cluster.command("local", "stop", "--all")
    assert own_processes() == []
    listening = {c.laddr.port for c in psutil.net_connections() if c.status == psutil.CONN_LISTEN}
    assert ports & listening == set()
    cluster.command("local", "start", cluster.stack)
    assert "paramKind" not in Api(cluster.kubeconfig()).create(pod("probe"), dryRun="All").message
    assert UNCHANGED.fullmatch(cluster.up())
    assert cluster.get("namespace", "kube-system")["metadata"]["uid"] == identity


def test_secrets_of_the_control_plane_are_nowhere_in_state_or_stack_files(cluster: Cluster) -> None:
    keys = [
        line
        for file in (cluster.data / "local").rglob("*.key")
        for line in file.read_text().splitlines()
        if "-----" not in line
    ]
    passphrase = (cluster.data / "passphrase").read_text()
    kept = [f for folder in ("state", "stacks") for f in (cluster.data / folder).rglob("*") if f.is_file()]
    assert keys
    assert kept
    leaks = [file for file in kept if any(secret in file.read_text(errors="replace") for secret in (*keys, passphrase))]
    assert leaks == []


def test_the_passphrase_and_the_kubeconfig_are_readable_by_their_owner_only(cluster: Cluster) -> None:
    files: list[Path] = [cluster.data / "passphrase", cluster.kubeconfig()]
    assert [oct(file.stat().st_mode & 0o777) for file in files] == ["0o600", "0o600"]


def test_without_a_terminal_an_unchanged_stack_is_a_summary(cluster: Cluster) -> None:
    lines = cluster.command("up", "--hermetic", IGZ_CLUSTERS_VERBOSE="").stdout.splitlines()
    assert lines[0] == "local (dev, local): up done"
    assert [line for line in lines if re.match(r"nothing changes; \d+ unchanged; ", line)]
    assert len(lines) < 60


def test_a_closed_pipe_leaves_no_process_behind(cluster: Cluster) -> None:
    def left() -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if str(cluster.data) in process.environ().get("IGZ_CLUSTERS_RUN", ""):
                    found.append(process)
        return found

    script = f"{COMMAND} preview --hermetic --verbose | head -3"
    shown = subprocess.run(
        ["sh", "-c", script], cwd=PROJECT_ROOT, env=cluster.environment, capture_output=True, text=True, check=True
    )
    assert len(shown.stdout.splitlines()) == 3
    eventually(lambda: not left())
    assert cluster.command("recover", "local").stdout.startswith("The stack 'local' is in order")
