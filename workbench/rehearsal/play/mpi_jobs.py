"""The kind ``MPIJob``, which MLRun CE's chart of the MPI operator installs: admission judges the job, not its pods.

mlrun/mlrun 0f27d986, ``server/api/runtime_handlers/mpijob/v1.py``, creates version v1.
"""

from collections.abc import Mapping
from typing import Any, Final

GROUP: Final = "kubeflow.org"
KIND: Final = "MPIJob"
PLURAL: Final = "mpijobs"
VERSION: Final = f"{GROUP}/v1"


DEFINITION: Final[Mapping[str, Any]] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "names": {"kind": KIND, "listKind": f"{KIND}List", "plural": PLURAL, "singular": "mpijob"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
"""Definition of the kind; unlike the operator's, it accepts any fields."""


def spec_of(launcher: Mapping[str, Any], worker: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """Return the spec of a job with these specs of pods, as MLRun writes it."""
    return {
        "slotsPerWorker": 1,
        "cleanPodPolicy": "All",
        "mpiReplicaSpecs": {
            "Launcher": {"template": {"spec": dict(launcher)}},
            "Worker": {"replicas": workers, "template": {"spec": dict(worker)}},
        },
    }


def owned(pod: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pod as the operator creates it for a job (kubeflow/mpi-operator db6930dc, ``newWorker``)."""
    owner = {
        "apiVersion": VERSION,
        "kind": KIND,
        "name": job["metadata"]["name"],
        "uid": job["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {**pod, "metadata": {**pod["metadata"], "ownerReferences": [owner]}}
