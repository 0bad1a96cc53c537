"""An existing cluster of another owner, on a real API server, and a user who has a stack on it."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from support.cluster import Cluster, eventually
from support.existing import document
from workbench.toolchain import ensure, without_logs

OWNER: Final = "rack-tool"
"""Field manager of the cluster's owner."""

CONTEXT: Final = "on-prem"
STACK: Final = "onprem"
CAPACITY: Final = {"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": "2"}
RACKS: Final = {"core-0": "core", "compute-0": "compute", "compute-1": "compute", "gpu-0": "gpu"}


@dataclass(frozen=True)
class Site:
    """The cluster, and the user's folder."""

    folder: Path
    cluster: Cluster

    @property
    def kubeconfig(self) -> Path:
        """The user's own."""
        return self.folder / "kubeconfig"

    @property
    def file(self) -> Path:
        """The stack file."""
        return self.folder / "stacks" / f"Pulumi.{STACK}.yaml"

    def choose(self, changes: dict[str, Any] | None = None, **others: Any) -> None:
        """Write the stack file, with changes at paths."""
        own = {"cluster.clusterId": self.cluster_id, "policyGuard": "off"}
        choices = document({**own, **(changes or {}), **others})
        self.file.write_text(yaml.safe_dump({"config": {"igz-clusters:stack": choices}}, sort_keys=False))

    @property
    def cluster_id(self) -> str:
        uid: str = self.get("namespace", "kube-system")["metadata"]["uid"]
        return uid

    def environment(self) -> dict[str, str]:
        return {
            "KUBECONFIG": str(self.kubeconfig),
            "IGZ_CLUSTERS_STACKS": str(self.folder / "stacks"),
            "PULUMI_HOME": str(without_logs(self.folder / "pulumi")),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "only in this folder",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_OPTION_SKIP_PREVIEW": "true",
        }

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run ``igz-clusters`` and return exit code and all that it printed."""
        done = self.cluster.command(*arguments, check=False, **self.environment())
        return done.returncode, done.stdout + done.stderr

    def done(self, *arguments: str) -> str:
        """Run a command that must succeed."""
        code, printed = self.run(*arguments, "--hermetic")
        assert code == 0, printed
        return printed

    def refused(self, *arguments: str) -> str:
        """Run a command that must be refused without a traceback."""
        code, printed = self.run(*arguments, "--hermetic")
        assert code == 1, printed
        assert "Traceback" not in printed
        return " ".join(printed.split())

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Act as the cluster's owner."""
        return self.cluster.kubectl(*arguments, stdin=stdin).stdout

    def get(self, *what: str) -> Any:
        return json.loads(self.kubectl("get", *what, "-o", "json", "--show-managed-fields"))

    def own(self, manifest: dict[str, Any]) -> None:
        """Make or change an object as the cluster's owner."""
        arguments = ("apply", "--server-side", "--force-conflicts", f"--field-manager={OWNER}", "-f", "-")
        self.kubectl(*arguments, stdin=json.dumps(manifest))

    def node(self, name: str, rack: str, capacity: dict[str, str] | None = None) -> None:
        """Make a node as the owner does, and wait until it reports."""
        labels = {"rack": rack, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
        annotations = {
            "kwok.x-k8s.io/node": "fake",
            "igz-clusters.io/capacity": json.dumps(capacity or CAPACITY),
        }
        metadata = {"name": name, "labels": labels, "annotations": annotations}
        self.own({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
        eventually(lambda: self.get("node", name)["status"].get("capacity"))

    def snapshot(self) -> dict[tuple[str, str], Any]:
        """Return what the owner can see of nodes, classes and namespaces, without what moves by itself."""
        kinds = "nodes,priorityclasses,storageclasses,namespaces"
        return {(each["kind"], each["metadata"]["name"]): _steady(each) for each in self.get(kinds)["items"]}

    def state(self) -> str:
        """Return the stack's state as text."""
        return next((self.folder / "state").rglob(f"stacks/**/{STACK}.json")).read_text()

    def deployment(self) -> dict[str, Any]:
        """Return the deployment in the state."""
        found: dict[str, Any] = json.loads(self.state())["checkpoint"]["latest"]
        return found


def managed(live: dict[str, Any], manager: str) -> Any:
    """Return the fields that a manager applies."""
    entries = live["metadata"]["managedFields"]
    found = [each["fieldsV1"] for each in entries if (each["manager"], each["operation"]) == (manager, "Apply")]
    return found[0] if found else {}


def _steady(live: dict[str, Any]) -> Any:
    metadata = live["metadata"]
    kept = {key: metadata.get(key) or {} for key in ("labels", "annotations", "finalizers", "uid")}
    rest = {key: value for key, value in live.items() if key not in ("metadata", "status")}
    return {**rest, "metadata": kept}


def leads_to(kubeconfig: Path, source: Path) -> None:
    """Write a kubeconfig whose one context, always of the same name, leads to the cluster of another."""
    config = yaml.safe_load(source.read_text())
    config["contexts"][0]["name"] = config["current-context"] = CONTEXT
    kubeconfig.write_text(yaml.safe_dump(config))


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """Start a control plane with labelled nodes, and a backend of the user's own."""
    data = folder / "data"
    for each in (data, folder / "stacks", folder / "state"):
        each.mkdir(mode=0o700)
    cluster = Cluster(data, "theirs", is_quick=True)
    try:
        cluster.command("local", "start", "theirs", "--bare")
        found = Site(folder, cluster)
        leads_to(found.kubeconfig, cluster.kubeconfig())
        for name, rack in RACKS.items():
            found.node(name, rack)
        found.choose()
        _stack_init(found)
        yield found
    finally:
        cluster.command("local", "stop", "--all")


def _stack_init(found: Site) -> None:
    """Do what `pulumi login` and `pulumi stack init` do for a user, once."""
    project = found.folder / "project"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: igz-clusters\nruntime: yaml\n")
    pulumi = ensure(["pulumi"], hermetic=True).pulumi
    subprocess.run(
        [pulumi, "stack", "init", STACK, "--no-select"],
        cwd=project,
        env={**os.environ, **found.environment()},
        check=True,
        capture_output=True,
    )
