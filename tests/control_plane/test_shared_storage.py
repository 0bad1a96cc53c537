"""Claims in shared storage on a real API server: real controllers bind them, the real scheduler places their pods."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from typing_extensions import override

from components.contract.labels import LabelKey
from components.contract.mlrun import MlrunVariable
from infra.config import CONFIG_KEY
from support.cluster import Cluster, changes, eventually, new_cluster, pod
from support.edits import edited
from support.site import STACK, Site, site
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

CHANGES: dict[str, Any] = {
    "storage": {
        "corpus": {"purpose": "dataset", "type": "files"},
        "temporary": {"purpose": "scratch", "type": "files"},
    },
    "namespaces": {
        "mlrun": {"coreServices": True, "volumes": {"shared": {"storage": "corpus"}}},
        "jobs": {"volumes": {"shared": {"storage": "corpus"}, "work": {"storage": "temporary"}}},
    },
    "platform.mlrun.autoMount": {"type": "pvc", "parameters": {"pvc_name": "shared", "volume_mount_path": "/data"}},
    "pools.workload.size": {"min": 2, "max": 2},
}
WORKERS = ("train-worker-0", "train-worker-1")


class Storing(Cluster):
    """The local cluster of a stack with shared storage."""

    @override
    def up(self) -> str:
        folder = self.data.parent / "stacks"
        folder.mkdir(mode=0o700, exist_ok=True)
        document = yaml.safe_load((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
        document["config"][CONFIG_KEY] = edited(document["config"][CONFIG_KEY], CHANGES)
        (folder / "Pulumi.local.yaml").write_text(yaml.safe_dump(document))
        return changes(self.command("up", "local", "--hermetic", IGZ_CLUSTERS_STACKS=str(folder)).stdout)

    def claims(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return all claims by namespace and name."""
        found = self.get("pvc", "-A")["items"]
        return {(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in found}


@pytest.fixture(scope="module")
def storing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storing]:
    with new_cluster(tmp_path_factory.mktemp("storing") / "data", is_quick=True) as made:
        cluster = Storing(made.data, is_quick=True)
        cluster.up()
        yield cluster


def mounting(name: str, claim: str, namespace: str, path: str = "/data", **spec: Any) -> dict[str, Any]:
    """Return a pod that reads and writes a claim."""
    made = pod(name, namespace=namespace, cpu="100m", memory="128Mi", **spec)
    made["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    made["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": path}]
    return made


def worker(name: str) -> dict[str, Any]:
    """Return a worker as kubeflow/mpi-operator 0.3 labels it, and keep it off the nodes of others."""
    labels = {"mpi-job-name": "train", "mpi-job-role": "worker"}
    apart = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    return mounting(name, "shared", "jobs", labels=labels, affinity=affinity)


def runs(cluster: Cluster, name: str, namespace: str) -> bool:
    return bool(cluster.pod(name, namespace)["status"].get("phase") == "Running")


def test_every_claim_is_bound_to_its_own_volume_and_a_second_up_changes_nothing(storing: Storing) -> None:
    claims = storing.claims()
    assert {at: each["status"]["phase"] for at, each in claims.items()} == {
        ("mlrun", "shared"): "Bound",
        ("jobs", "shared"): "Bound",
        ("jobs", "work"): "Bound",
    }
    volumes = {each["metadata"]["name"]: each for each in storing.get("pv")["items"]}
    for (namespace, name), claim in claims.items():
        volume = volumes[claim["spec"]["volumeName"]]
        assert volume["metadata"]["name"] == f"igz-{namespace}.{name}"
        assert volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]
        assert claim["status"]["accessModes"] == ["ReadWriteMany"]
    assert len(volumes) == len(claims)
    assert re.fullmatch(r"\d+ unchanged", storing.up())


def test_the_pods_of_an_mpi_job_on_several_nodes_share_one_claim(storing: Storing) -> None:
    for name in WORKERS:
        storing.apply(worker(name))
    eventually(lambda: all(runs(storing, name, "jobs") for name in WORKERS))
    nodes = {storing.pod(name, "jobs")["spec"]["nodeName"] for name in WORKERS}
    assert len(nodes) == len(WORKERS)
    assert {storing.nodes()[node]["metadata"]["labels"][LabelKey.POOL] for node in nodes} == {"workload"}
    for name in WORKERS:
        storing.kubectl("delete", "pod", name, "-n", "jobs", "--now")


def test_a_function_with_what_mlrun_mounts_by_itself_runs(storing: Storing) -> None:
    settings = storing.get("configmap", "mlrun-override-env", "-n", "mlrun")["data"]
    assert settings[MlrunVariable.AUTO_MOUNT_TYPE] == "pvc"
    parameters = json.loads(base64.b64decode(settings[MlrunVariable.AUTO_MOUNT_PARAMETERS]))
    storing.apply(mounting("function", parameters["pvc_name"], "mlrun", parameters["volume_mount_path"]))
    eventually(lambda: runs(storing, "function", "mlrun"))


def test_a_claim_of_another_namespace_finds_no_volume_to_take(storing: Storing) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "thief", "namespace": "mlrun"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "igz-temporary",
            "volumeName": "igz-jobs.work",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    storing.apply(claim)
    said = eventually(
        lambda: storing.get("events", "-n", "mlrun", "--field-selector=involvedObject.name=thief")["items"]
    )
    assert "already bound to a different claim" in " ".join(each["message"] for each in said)
    assert storing.claims()["mlrun", "thief"]["status"]["phase"] == "Pending"
    storing.kubectl("delete", "pvc", "thief", "-n", "mlrun")


def test_a_claim_that_somebody_deleted_is_made_anew_as_the_page_says(storing: Storing) -> None:
    storing.kubectl("delete", "pvc", "work", "-n", "jobs")
    eventually(lambda: storing.get("pv", "igz-jobs.work")["status"]["phase"] == "Released")
    storing.kubectl("delete", "pv", "igz-jobs.work")
    assert "created" in storing.up()
    assert storing.claims()["jobs", "work"]["status"]["phase"] == "Bound"


STORED: dict[str, Any] = {
    "storage": {"corpus": {"purpose": "dataset", "type": "files", "storageClass": "nfs"}},
    "namespaces": {
        "mlrun": {"coreServices": True},
        "jobs": {"volumes": {"shared": {"storage": "corpus", "sizeGib": 200}}},
    },
}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("site")) as found:
        yield found


def storage_class(provisioner: str) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "nfs"},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def provisioned(claim: dict[str, Any]) -> dict[str, Any]:
    """Return the volume that a driver of shared files makes for a claim."""
    metadata, spec = claim["metadata"], claim["spec"]
    reference = {"kind": "PersistentVolumeClaim", **{key: metadata[key] for key in ("name", "namespace", "uid")}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pvc-{metadata['uid']}"},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": spec["resources"]["requests"],
            "claimRef": reference,
            "nfs": {"server": "storage.invalid", "path": "/made"},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec["storageClassName"],
        },
    }


@pytest.mark.proofs
def test_on_an_existing_cluster_a_claim_of_the_owners_class_is_bound_once_a_pod_needs_it(theirs: Site) -> None:
    theirs.choose(STORED)
    assert "found no StorageClass 'nfs' in the cluster" in theirs.refused("up", STACK, "--yes")
    theirs.own(storage_class("ebs.csi.aws.com"))
    assert "whose volumes one node mounts at a time" in theirs.refused("up", STACK, "--yes")
    theirs.kubectl("delete", "storageclass", "nfs")
    theirs.own(storage_class("nfs.csi.k8s.io"))
    printed = theirs.done("up", STACK, "--yes")
    assert "StorageClass nfs deletes the data of a deleted claim" in printed
    claim = theirs.get("pvc", "shared", "-n", "jobs")
    assert (claim["status"]["phase"], claim["spec"]["storageClassName"]) == ("Pending", "nfs")

    theirs.cluster.apply(mounting("reader", "shared", "jobs"))
    chosen = "volume.kubernetes.io/selected-node"
    eventually(lambda: chosen in (theirs.get("pvc", "shared", "-n", "jobs")["metadata"].get("annotations") or {}))
    theirs.own(provisioned(theirs.get("pvc", "shared", "-n", "jobs")))
    eventually(lambda: runs(theirs.cluster, "reader", "jobs"))
    assert theirs.get("pvc", "shared", "-n", "jobs")["status"]["phase"] == "Bound"

    again = theirs.done("up", STACK, "--yes")
    assert " updated" not in again.partition("Resources:")[2], again
    theirs.kubectl("delete", "pod", "reader", "-n", "jobs", "--now")
    theirs.done("destroy", STACK, "--yes")
    assert theirs.get("pvc", "-A")["items"] == []
    assert theirs.kubectl("get", "storageclass", "nfs", "-o", "name").strip() == "storageclass.storage.k8s.io/nfs"
