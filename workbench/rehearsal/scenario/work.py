"""Works of a scenario: how their pods are created, and what they request."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    Field,
    ModelWrapValidatorHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)

from components.contract.choices import ContractModel, Findings
from components.contract.labels import is_dns_label, label_key_grammar_problem
from components.contract.mlrun_choices import PreemptionMode
from components.contract.pool_names import label_value
from components.contract.pools import PoolRole
from components.contract.priorities import UserPriority
from components.contract.quantities import PositiveQuantity, parse_quantity
from infra.config.problems import did_you_mean
from workbench.rehearsal.scenario.durations import Duration
from workbench.rehearsal.scenario.kinds import SCALING, WorkKind, key_problem

__all__ = ("NAMESPACE_PATTERN", "NAME_MAX", "TOLERATION", "Volume", "Work", "WorkKind", "WorkName")

NAME_MAX: Final = 30
"""Maximum length of a work's name: names of pods add unit, role and number to it, and have at most 63 characters."""

NAMESPACE_PATTERN: Final = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
"""What ``is_dns_label`` accepts, for the JSON Schema."""


def _work_name(name: str) -> str:
    if not is_dns_label(name):
        raise ValueError("a work's name must be lower-case letters, digits or '-', without '-' at either end")
    if len(name) > NAME_MAX:
        raise ValueError(f"a work's name must have at most {NAME_MAX} characters")
    return name


def _namespace(name: str) -> str:
    if not is_dns_label(name):
        raise ValueError("must be 1 to 63 lower-case letters, digits or '-', without '-' at either end")
    return name


def _label_key(key: str) -> str:
    if problem := label_key_grammar_problem(key):
        raise ValueError(problem)
    return key


TOLERATION: Final[Mapping[str, tuple[str, ...]]] = {
    "key": (),
    "operator": ("Equal", "Exists"),
    "value": (),
    "effect": ("NoSchedule", "PreferNoSchedule", "NoExecute"),
    "tolerationSeconds": (),
}
"""Keys of a toleration and their values, if these are limited.

https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#toleration-v1-core
"""


def _tolerations(tolerations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    findings = Findings()
    for index, toleration in enumerate(tolerations):
        for key, value in toleration.items():
            values = TOLERATION.get(key)
            if values is None:
                findings.add(f"unknown key{did_you_mean(key, TOLERATION)}", index, key, allowed=tuple(TOLERATION))
            elif values and value not in values:
                findings.add(f"unknown value{did_you_mean(value, values)}", index, key, given=value, allowed=values)
    findings.raise_if_any()
    return tolerations


def _pod_spec(spec: dict[str, Any] | None) -> dict[str, Any] | None:
    if spec is None:
        return None
    if inner := {"spec", "metadata", "kind"} & spec.keys():
        raise ValueError(f"must be the spec of a pod only, without {', '.join(sorted(inner))}")
    containers = spec.get("containers")
    if not isinstance(containers, list) or not containers:
        raise ValueError("needs a list of containers, such as [{name: main, image: busybox}]")
    return spec


WorkName = Annotated[
    str,
    AfterValidator(_work_name),
    Field(json_schema_extra={"pattern": rf"^[a-z0-9]([-a-z0-9]{{0,{NAME_MAX - 2}}}[a-z0-9])?$"}),
]
"""Name of a work, which names of its pods begin with."""

_Key = Annotated[str, AfterValidator(_label_key)]
_Value = Annotated[str, AfterValidator(label_value)]


class Volume(ContractModel):
    """A claim for each unit of work."""

    size: PositiveQuantity = Field("10Gi", description="Size of the claim. Default: 10Gi.", examples=["10Gi"])
    zone: str | None = Field(
        None,
        min_length=1,
        description="Zone in which the volume already is. Default: that of the unit's first node.",
        examples=["eu-west-1a"],
    )


_NUCLIO_CPU: Final = 75
"""Target utilization in percent of a function that names none (nuclio/nuclio 9e837f6a, ``pkg/platform/abstract``,
``DefaultTargetCPU``)."""

_SERVICE_CPU: Final = 80
"""The same in Kubernetes (v1.36.3, ``pkg/apis/autoscaling/annotations.go``, ``DefaultCPUUtilization``) and KServe."""

REPLICAS_MAX: Final = 500
"""Maximum number of replicas of a unit."""


class Scales(ContractModel):
    """Bounds and target of the HorizontalPodAutoscaler of each unit."""

    min: int = Field(
        1, ge=1, le=REPLICAS_MAX, strict=True, description="Fewest replicas, also the first ones. Default: 1.",
        examples=[2],
    )  # fmt: skip
    max: int = Field(ge=2, le=REPLICAS_MAX, strict=True, description="Most replicas, above min.", examples=[10])
    cpu_utilization: int | None = Field(
        None,
        ge=1,
        le=1000,
        strict=True,
        description="Average CPU of the pods that it aims at, in percent of their request. Default: 75 for functions, "
        "as Nuclio has it, and 80 for services, as Kubernetes has it.",
        examples=[70],
    )

    @field_validator("max", mode="after")
    @classmethod
    def _above_the_minimum(cls, most: int, info: ValidationInfo) -> int:
        if most <= (least := info.data.get("min", 0)):
            raise ValueError(f"must be more than min, {least}; for a fixed number set workers instead of scales")
        return most


class Work(ContractModel):
    """Work of one kind and size; arrivals name it."""

    kind: WorkKind = Field(
        description="What creates the pods, which decides where they may run and whether lost ones come back.",
        examples=["mlrun-job"],
    )
    namespace: Annotated[str, AfterValidator(_namespace)] | None = Field(
        None,
        description="Namespace of the pods. Default: the stack's first namespace with core services.",
        examples=["mlrun"],
    )
    cpu: PositiveQuantity | None = Field(
        None, description="CPU request of each pod. Default: the platform's.", examples=["2"]
    )
    cpu_limit: PositiveQuantity | None = Field(
        None, description="CPU limit of each pod, at least cpu. Default: cpu.", examples=["4"]
    )
    memory: PositiveQuantity | None = Field(
        None, description="Memory request of each pod. Default: the platform's.", examples=["8Gi"]
    )
    memory_limit: PositiveQuantity | None = Field(
        None, description="Memory limit of each pod, at least memory. Default: memory.", examples=["16Gi"]
    )
    gpus: int = Field(
        0, ge=0, le=16, strict=True, description="GPUs of each pod; with kind mpi, of each worker.", examples=[1]
    )
    gpu_slices: int = Field(
        0,
        ge=0,
        le=16,
        strict=True,
        description="Turns on GPUs, or slices of them, of each pod, as the first pool with sharing offers them; with "
        "kind mpi, of each worker.",
        examples=[1],
    )
    workers: int = Field(
        1,
        ge=1,
        le=500,
        strict=True,
        description="Executors of spark, workers of dask and mpi, steps of a pipeline, or replicas of a function or "
        "service, in each unit. Default: 1.",
        examples=[4],
    )
    scales: Scales | None = Field(
        None,
        description="Let a HorizontalPodAutoscaler choose the replicas of each unit, by the CPU that the event load "
        "says. Default: there are as many as workers.",
        examples=[{"min": 2, "max": 10, "cpuUtilization": 70}],
    )
    runs_for: Duration | None = Field(
        None,
        description="How long each pod works until it succeeds. Default: until the scenario ends.",
        examples=["20m"],
    )
    returns: Duration | None = Field(
        None,
        description="After which time its user starts a lost notebook again, with the same volume. Default: never.",
        examples=["2m"],
    )
    priority: UserPriority | None = Field(
        None,
        description="Priority class for user work. Default: what the platform sets.",
        examples=[UserPriority.LOW.value],
    )
    mode: PreemptionMode | None = Field(
        None,
        description="MLRun's preemption mode, which decides about spot nodes; for works that MLRun runs. "
        "Default: the stack's, as a rule prevent.",
        examples=["constrain"],
    )
    role: PoolRole | None = Field(
        None,
        description="Role of the pools that the author selects by label. Default: none; the platform chooses.",
        examples=["gpu"],
    )
    node_selector: dict[_Key, _Value] = Field(
        {}, description="Node selector that the author adds.", examples=[{"example.com/disk": "nvme"}]
    )
    tolerations: Annotated[list[dict[str, Any]], AfterValidator(_tolerations)] = Field(
        [],
        description="Tolerations that the author adds, as in a pod's spec.",
        examples=[[{"key": "spot", "operator": "Exists"}]],
    )
    priority_class: str | None = Field(
        None,
        min_length=1,
        description="Name of any other priority class, instead of priority.",
        examples=["system-cluster-critical"],
    )
    volume: Volume | None = Field(
        None, description="Claim of each unit, mounted by its pods. Default: none.", examples=[{"size": "10Gi"}]
    )
    labels: dict[_Key, _Value] = Field(
        {}, description="Further labels of the pods.", examples=[{"example.com/critical": "true"}]
    )
    team: Annotated[str, AfterValidator(label_value)] = Field(
        "", description="Team that the report counts the work for. Default: none.", examples=["vision"]
    )
    pod: Annotated[dict[str, Any] | None, AfterValidator(_pod_spec)] = Field(
        None,
        description="Spec of the pod, as in Kubernetes; required for kind pod, and for no other kind.",
        examples=[{"containers": [{"name": "main", "image": "busybox"}]}],
    )

    @field_validator("cpu_limit", "memory_limit", mode="after")
    @classmethod
    def _not_below_the_request(cls, limit: str | None, info: ValidationInfo) -> str | None:
        resource = str(info.field_name).removesuffix("_limit")
        request = info.data.get(resource)
        if limit and request and parse_quantity(limit) < parse_quantity(request):
            raise ValueError(f"must be at least {resource}, {request}; raise it, or remove it")
        return limit

    @field_validator("gpu_slices", mode="after")
    @classmethod
    def _whole_or_parts(cls, slices: int, info: ValidationInfo) -> int:
        if slices and info.data.get("gpus"):
            raise ValueError("cannot be combined with gpus; set one of the two")
        return slices

    @field_validator("priority_class", mode="after")
    @classmethod
    def _only_one_priority(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name and info.data.get("priority"):
            raise ValueError("cannot be combined with priority; set one of the two")
        return name

    @property
    def devices(self) -> int:
        """GPUs of each pod, or parts of GPUs."""
        return self.gpus or self.gpu_slices

    @property
    def replicas(self) -> int:
        """Replicas or workers of a unit when it arrives."""
        return self.scales.min if self.scales else self.workers

    @property
    def target_utilization(self) -> int:
        """What its HorizontalPodAutoscaler aims at, in percent of the request: its own target, or its creator's."""
        own = self.scales.cpu_utilization if self.scales else None
        return own or (_NUCLIO_CPU if self.kind is WorkKind.NUCLIO_FUNCTION else _SERVICE_CPU)

    @property
    def pods(self) -> int:
        """Pods of a unit when it arrives: its workers and their leader."""
        return self.replicas + (self.kind in (WorkKind.SPARK, WorkKind.DASK, WorkKind.MPI))

    @model_validator(mode="wrap")
    @classmethod
    def _keys_fit_the_kind(cls, document: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Check which keys are set, in addition to what is wrong with their values."""
        findings = Findings()
        with findings.collect():
            work = handler(document)
        if isinstance(document, Mapping):
            for key, message, given in _unfit_keys(document):
                findings.add(message, key, given=given)
        findings.raise_if_any()
        return work


def _unfit_keys(document: Mapping[Any, Any]) -> Iterator[tuple[str, str, Any]]:
    """Return keys that a work's kind does not have or lacks, each with the problem and the value to show."""
    given = document.get("kind")
    if given not in list(WorkKind):
        return
    kind = WorkKind(given)
    for key in document:
        if problem := key_problem(str(key), kind):
            value = document[key]
            yield str(key), problem, None if isinstance(value, dict | list) else value
    if kind in SCALING and document.get("scales") is not None and "workers" in document:
        yield "workers", "cannot be combined with scales, whose min is the number at first; remove it", None
    if kind is WorkKind.POD and document.get("pod") is None:
        yield "pod", "is required for kind pod: the spec of the pod", None
