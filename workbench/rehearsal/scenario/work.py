"""Kinds of work: what a scenario's pods are made like, and what they ask for."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from components.contract.choices import ContractModel
from components.contract.mlrun_choices import PreemptionMode
from components.contract.pools import PoolRole
from components.contract.priorities import UserPriority
from components.contract.quantities import PositiveQuantity
from workbench.rehearsal.scenario.durations import Duration


class WorkKind(StrEnum):
    """What makes the pods, and so how they are placed and whether lost ones come back."""

    MLRUN_JOB = "mlrun-job"
    """A job of MLRun: a bare pod that MLRun's API creates; lost pods stay lost."""

    NUCLIO_FUNCTION = "nuclio-function"
    """A Nuclio function: a Deployment; lost pods come back."""

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
    """A Kubernetes Job, such as a user writes by hand or from the shell; lost pods are started anew."""

    POD = "pod"
    """A bare pod exactly as ``pod`` says, with nothing that the platform would add."""


class Volume(ContractModel):
    """A claim for each unit of work."""

    size: PositiveQuantity = Field("10Gi", description="Size of the claim.", examples=["10Gi"])
    zone: str | None = Field(
        None, description="Zone in which the volume already is. Default: that of the first node.", examples=["eu-west-1a"]
    )


class Work(ContractModel):
    """Work of one kind and size; arrivals name it."""

    kind: WorkKind = Field(description="What makes the pods.", examples=["mlrun-job"])
    namespace: str | None = Field(
        None,
        description="Namespace of the pods. Default: the first of the stack with core services.",
        examples=["mlrun"],
    )
    cpu: PositiveQuantity | None = Field(None, description="CPU request of each pod.", examples=["2"])
    cpu_limit: PositiveQuantity | None = Field(None, description="CPU limit. Default: the request.", examples=["4"])
    memory: PositiveQuantity | None = Field(None, description="Memory request of each pod.", examples=["8Gi"])
    memory_limit: PositiveQuantity | None = Field(
        None, description="Memory limit. Default: the request.", examples=["16Gi"]
    )
    gpus: int = Field(0, ge=0, le=16, strict=True, description="GPUs of each pod; of mpi, of each worker.", examples=[1])
    workers: int = Field(
        1, ge=1, le=500, strict=True, description="Executors, workers, replicas or steps of one unit.", examples=[4]
    )
    runs_for: Duration | None = Field(
        None, description="How long each pod works. Default: until the scenario ends.", examples=["20m"]
    )
    priority: UserPriority | None = Field(
        None, description="User priority class. Default: what the platform sets.", examples=["igz-workload-low"]
    )
    mode: PreemptionMode | None = Field(
        None, description="MLRun's preemption mode. Default: the stack's.", examples=["constrain"]
    )
    role: PoolRole | None = Field(
        None, description="Role of the pools that the author selects.", examples=["gpu"]
    )
    node_selector: dict[str, str] = Field({}, description="Node selector that the author adds.", examples=[{"team": "a"}])
    tolerations: list[dict[str, Any]] = Field(
        [], description="Tolerations that the author adds.", examples=[[{"key": "spot", "operator": "Exists"}]]
    )
    priority_class: str | None = Field(
        None, description="Name of any priority class, instead of priority.", examples=["system-cluster-critical"]
    )
    volume: Volume | None = Field(None, description="Claim of each unit. Default: none.", examples=[{"size": "10Gi"}])
    labels: dict[str, str] = Field({}, description="Further labels of the pods.", examples=[{"igz-clusters.io/critical": "true"}])
    team: str = Field("", description="Team that the report counts the work for.", examples=["vision"])
    pod: dict[str, Any] | None = Field(
        None, description="Spec of the pod, for kind pod only.", examples=[{"containers": []}]
    )
