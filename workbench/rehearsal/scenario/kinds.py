"""Kinds of work, and which keys of a work each of them has."""

from enum import StrEnum
from typing import Final


class WorkKind(StrEnum):
    """What creates the pods, which decides how they are placed and whether lost ones come back."""

    MLRUN_JOB = "mlrun-job"
    """A job of MLRun: a bare pod that MLRun's API creates; lost pods stay lost."""

    NUCLIO_FUNCTION = "nuclio-function"
    """A Nuclio function: a Deployment with ``workers`` replicas; lost pods come back."""

    NOTEBOOK = "notebook"
    """A user's Jupyter server: a bare pod that JupyterHub creates, on the pools for notebooks."""

    SPARK = "spark"
    """A Spark application: a driver and ``workers`` executors; lost executors come back."""

    DASK = "dask"
    """A Dask cluster of MLRun: a scheduler and ``workers`` workers, bare pods."""

    MPI = "mpi"
    """An MPI job: a launcher without a GPU and ``workers`` workers; MLRun's MPIJob."""

    PIPELINE = "pipeline"
    """A run of Kubeflow Pipelines: ``workers`` steps, one after the other, each a pod that Argo creates."""

    SERVICE = "service"
    """An application service, such as Presto or a model server: a Deployment with ``workers`` replicas."""

    CORE_SERVICE = "core-service"
    """A service of the platform, such as MLRun's API or Grafana: a Deployment with ``workers`` replicas."""

    BATCH_JOB = "batch-job"
    """A Kubernetes Job, such as a user writes by hand or from the shell; lost pods are started again."""

    POD = "pod"
    """A bare pod exactly as ``pod`` says, with nothing that the platform would add."""


DEPLOYMENTS: Final = (WorkKind.NUCLIO_FUNCTION, WorkKind.SERVICE, WorkKind.CORE_SERVICE)

SCALING: Final = (WorkKind.NUCLIO_FUNCTION, WorkKind.SERVICE)
"""Kinds whose creators can let a HorizontalPodAutoscaler choose the replicas: Nuclio, and charts or KServe."""

_MLRUN: Final = (WorkKind.MLRUN_JOB, WorkKind.NUCLIO_FUNCTION, WorkKind.SPARK, WorkKind.DASK, WorkKind.MPI)
"""Kinds with a preemption mode (MLRun 1.12.1, ``enrich_preemption_mode`` in ``mlrun/k8s_utils.py``); steps of a
pipeline have none (``docs/decisions/0023-spot-and-gpus-by-choice.md``)."""
_OTHERS: Final = tuple(kind for kind in WorkKind if kind is not WorkKind.POD)
_ALL_BUT_DEPLOYMENTS: Final = tuple(kind for kind in WorkKind if kind not in DEPLOYMENTS)

KINDS_OF_KEY: Final = {
    "workers": (WorkKind.SPARK, WorkKind.DASK, WorkKind.MPI, WorkKind.PIPELINE, *DEPLOYMENTS),
    "scales": SCALING,
    "mode": _MLRUN,
    "runsFor": _ALL_BUT_DEPLOYMENTS,
    "returns": (WorkKind.NOTEBOOK,),
    "pod": (WorkKind.POD,),
    **dict.fromkeys(("cpu", "cpuLimit", "memory", "memoryLimit", "gpus", "gpuSlices", "volume"), _OTHERS),
    **dict.fromkeys(("priority", "priorityClass", "role", "nodeSelector", "tolerations"), _OTHERS),
}
"""Kinds of work that have a key of ``Work``; a key that is not listed here belongs to all kinds."""


def key_problem(key: str, kind: WorkKind) -> str:
    """Return why a work of a kind cannot have a key, and what to do; empty if it can."""
    kinds = KINDS_OF_KEY.get(key, tuple(WorkKind))
    if kind in kinds:
        return ""
    if kind is WorkKind.POD:
        return "a work of kind pod has exactly what its pod says; move it into pod, or choose another kind"
    if key == "runsFor":
        return f"the pods of a {kind} run until they are deleted; remove it, or set stays in its arrival"
    names = ", ".join(kinds[:-1]) + (" and " if kinds[:-1] else "") + kinds[-1]
    return f"only works of kind {names} have it, this is {_a(kind)}; remove it"


def _a(kind: WorkKind) -> str:
    return f"an {kind}" if kind is WorkKind.MLRUN_JOB or kind is WorkKind.MPI else f"a {kind}"
