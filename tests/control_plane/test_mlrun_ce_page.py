"""docs/mlrun-ce.md: the commands for the local cluster run as they stand there."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.contract.environments import Environment, PlatformProfile
from components.contract.labels import LabelKey
from support.cluster import COMMAND, Cluster, eventually, new_cluster
from support.kit import Manifest, Setting, Shape, shapes
from workbench.system.paths import PROJECT_ROOT

PAGE: Final = (PROJECT_ROOT / "docs/mlrun-ce.md").read_text()
LOCAL: Final = PAGE.partition("## On this machine")[2].partition("\n## ")[0]
KEPT_BACK: Final = re.compile(r"# not run: needs (the chart|a cloud|a registry|running containers)\n")
SETTING: Final = Setting(Environment.DEV, PlatformProfile.MLRUN_CE, "mutation")
NOTEBOOK: Final = "jupyter"
DAEMON: Final = "node-exporter"
NAMESPACE: Final = "mlrun"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Reader:
    """A user who types the page's commands into one shell, in a folder without a stack file."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster, self._folder = cluster, folder
        self._exports: list[str] = []

    def types(self, block: str) -> None:
        """Run a block; what it exports stays."""
        script = "\n".join(["set -euo pipefail", f'PATH="{COMMAND.parent}:$PATH"', *self._exports, block])
        environment = self._cluster.environment
        done = subprocess.run(
            ["bash", "-c", script], cwd=self._folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        self._exports += [line for line in block.splitlines() if line.startswith("eval ")]

    def installs_the_chart(self) -> None:
        """Create what the chart would, with the values that the page's commands wrote."""
        values = yaml.safe_load((self._folder / "values.yaml").read_text())
        made = [shape.manifest(SETTING, ()) for shape in shapes().values() if is_of_the_chart(shape)]
        for each in made:
            pod = each.get("spec", {}).get("template", {}).get("spec", {})
            if each["metadata"]["name"] == NOTEBOOK:
                pod["nodeSelector"] = values["jupyterNotebook"]["nodeSelector"]
            if each["metadata"]["name"] == "mlrun-db":
                pod["affinity"] = values["mlrun"]["db"]["affinity"]
            if each["metadata"]["name"] == DAEMON:
                exporter = values["kube-prometheus-stack"]["prometheus-node-exporter"]
                pod["containers"][0]["resources"] = exporter["resources"]
        listed = {"apiVersion": "v1", "kind": "List", "items": [*needs_of(made), *made]}
        (self._folder / "chart.json").write_text(json.dumps(listed))
        self.types("kubectl create -f chart.json")


def is_of_the_chart(shape: Shape) -> bool:
    """Return whether the chart creates a shape with our values."""
    return shape.file == "chart" and shape.name != "jupyter-on-its-pool"


def needs_of(made: list[Manifest]) -> list[Manifest]:
    """Return the service accounts of pods, and their volumes: the local cluster has no storage driver."""
    pods = [each["spec"]["template"]["spec"] for each in made if "template" in each.get("spec", {})]
    accounts = {pod["serviceAccountName"] for pod in pods if "serviceAccountName" in pod}
    volumes = [volume for pod in pods for volume in pod.get("volumes", [])]
    claims = {each["persistentVolumeClaim"]["claimName"] for each in volumes if "persistentVolumeClaim" in each}
    shape: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    found: list[Manifest] = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": NAMESPACE}}
        for name in sorted(accounts)
    ]
    for name in sorted(claims):
        held = {**shape, "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/none"}}
        asked = {**shape, "volumeName": name, "resources": {"requests": {"storage": "1Gi"}}}
        found.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": held})
        metadata = {"name": name, "namespace": NAMESPACE}
        found.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": asked})
    return found


def pools(cluster: Cluster) -> dict[str, set[str]]:
    """Return the pools of the chart's pods by the name of their shape; nothing while one waits."""
    names = [shape.name for shape in shapes().values() if is_of_the_chart(shape) and "pod" in shape.entry]
    found: dict[str, set[str]] = {name: set() for name in names}
    pods = cluster.get("pods", "-n", NAMESPACE)["items"]
    nodes = {name: each["metadata"]["labels"][LabelKey.POOL] for name, each in cluster.nodes().items()}
    for each in pods:
        if "nodeName" not in each["spec"]:
            return {}
        shape = max((name for name in names if each["metadata"]["name"].startswith(f"{name}-")), key=len)
        found[shape].add(nodes[each["spec"]["nodeName"]])
    return found if all(found.values()) else {}


@pytest.mark.control_plane
@pytest.mark.full
def test_a_newcomer_gets_from_nothing_to_a_notebook_and_a_spot_job(tmp_path: Path) -> None:
    folder = tmp_path / "newcomer"
    folder.mkdir()
    walk, _, removal = LOCAL.partition("**Removal:**")
    (job,) = blocks(walk, "yaml")
    (folder / "job.yaml").write_text(job)
    with new_cluster(tmp_path / "data") as cluster:
        reader = Reader(cluster, folder)
        for block in blocks(walk, "sh"):
            if KEPT_BACK.match(block):
                reader.installs_the_chart()
                # The notebook is on its new node before the daemon is.
                assert eventually(lambda: pools(cluster).get(DAEMON, set()) > {"initial"})
                placed = pools(cluster)
                del placed[DAEMON]
                assert placed.pop(NOTEBOOK) == {"jupyter"}
                assert {name: where for name, where in placed.items() if where != {"initial"}} == {}
            else:
                reader.types(block)
        assert cluster.pool_of("spot-job") == "spot"
        for block in blocks(removal, "sh"):
            reader.types(block)
        assert not (tmp_path / "data/local/local").exists()


def test_every_other_block_says_what_it_needs() -> None:
    others = blocks(PAGE.replace(LOCAL, ""), "sh")
    assert others
    assert [block for block in others if not KEPT_BACK.match(block)] == []
