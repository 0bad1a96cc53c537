from functools import cache
from typing import Any

from infra.config import parse
from infra.program import run
from support.recorder import Recorder, record

VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"

DOCUMENT: dict[str, Any] = {
    "schemaVersion": 1,
    "environment": "dev",
    "cluster": {"kind": "local"},
    "pools": {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}},
    # As it is for a cloud: what only that decides is left out.
    "storage": {"corpus": {"purpose": "dataset", "type": "files", "backups": True, "redundancy": "local"}},
    "namespaces": {"jobs": {"volumes": {"shared": {"storage": "corpus", "sizeGib": 100}}}},
}


@cache
def stored() -> Recorder:
    config = parse(DOCUMENT)
    return record(lambda: run(config, kubeconfig="/nowhere/kubeconfig"))


def test_the_claims_of_a_cloud_are_declared_with_volumes_that_nothing_mounts() -> None:
    volume, claim = stored().of_type(VOLUME)["igz-jobs.shared"]["spec"], stored().of_type(CLAIM)["igz-jobs.shared"]
    assert volume["nfs"] == {"server": "storage.invalid", "path": "/corpus/jobs/shared"}
    assert (volume["claimRef"]["namespace"], volume["claimRef"]["name"]) == ("jobs", "shared")
    assert claim["spec"]["volumeName"] == "igz-jobs.shared"
    [storage_class] = stored().of_type(STORAGE_CLASS).values()
    assert storage_class["provisioner"] == "kubernetes.io/no-provisioner"
