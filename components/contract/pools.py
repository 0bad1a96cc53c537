"""Node pools as a stack file describes them: what they are for, how large, bought how, of which types.

Everything else about a pool (labels, taints, tolerations, autoscaler hints) is derived, in ``groups``.
Messages start with the id under which the catalogue of best practices lists the same fact.
"""

import difflib
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel
from typing_extensions import override

from components.contract.instances import INSTANCE_TYPES, InstanceType
from components.contract.labels import label_key_problem, label_value_problem
from components.contract.lifecycle import Lifecycle

NODES_MAX: Final = 450
"""Nodes per group that EKS allows by default: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""

DEFAULT_GPU_RESOURCE: Final = "nvidia.com/gpu"
"""Extended resource of NVIDIA's device plug-in."""

POOL_NAME_MAX: Final = 12
"""Characters of an AKS Linux pool's name: https://learn.microsoft.com/azure/aks/create-node-pools."""


class ContractModel(BaseModel):
    """A closed, immutable part of a stack file; YAML keys are camelCase."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_default=True)


class PoolRole(StrEnum):
    """What a pool is for (Iguazio best practices, node groups)."""

    INITIAL = "initial"
    """The platform's core services: static and on-demand."""

    WORKLOAD = "workload"
    """MLRun jobs, Nuclio functions and application services."""

    JUPYTER = "jupyter"
    """Interactive notebooks; its own pool in development."""

    GPU = "gpu"
    """Work that asks for a GPU, and nothing else."""

    DATA = "data"
    """V3IO data nodes: their NVMe content dies when an instance stops."""

    @property
    def holds_user_work(self) -> bool:
        """Whether users' pods may run there."""
        return self in (PoolRole.WORKLOAD, PoolRole.JUPYTER, PoolRole.GPU)

    @property
    def has_zonal_volumes(self) -> bool:
        """Whether its pods usually come back to a disk that exists in one zone only."""
        return self in (PoolRole.JUPYTER, PoolRole.DATA)

    @property
    def is_static(self) -> bool:
        """Whether the size never moves by itself."""
        return self in (PoolRole.INITIAL, PoolRole.DATA)


class PoolSize(ContractModel):
    """Nodes of a pool; equal bounds make it static, different ones leave the size to the autoscaler."""

    min: int = Field(ge=0, le=NODES_MAX, description="Fewest nodes.")
    max: int = Field(ge=1, le=NODES_MAX, description="Most nodes.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}; swap them or raise max")
        return self

    @override
    def __str__(self) -> str:
        """Return ``2`` for a static size and ``0..20`` for an elastic one."""
        return str(self.min) if self.min == self.max else f"{self.min}..{self.max}"


def _label_key(key: str) -> str:
    if problem := label_key_problem(key):
        raise ValueError(f"label key '{key}': {problem}")
    return key


def _label_value(value: str) -> str:
    if problem := label_value_problem(value):
        raise ValueError(f"label value '{value}': {problem}")
    return value


class NodePool(ContractModel):
    """One pool of equal nodes."""

    role: PoolRole = Field(description="What the pool is for.")
    lifecycle: Lifecycle = Field(Lifecycle.ON_DEMAND, description="How its instances are bought.")
    size: PoolSize = Field(description="Fewest and most nodes.")
    instance_types: tuple[str, ...] = Field(
        min_length=1,
        max_length=20,
        description="Machine types of one shape, preferred first. EKS takes at most 20 per group.",
    )
    labels: dict[Annotated[str, AfterValidator(_label_key)], Annotated[str, AfterValidator(_label_value)]] = Field(
        default_factory=dict, description="Further node labels; reserved prefixes are refused."
    )
    gpu_resource: str = Field(
        DEFAULT_GPU_RESOURCE, description="Name under which its GPUs are requested; pools of role gpu only."
    )

    @field_validator("instance_types", mode="after")
    @classmethod
    def _types_are_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        problems = []
        for name in names:
            if name not in INSTANCE_TYPES:
                nearest = difflib.get_close_matches(name, INSTANCE_TYPES, n=1)
                problems.append(f"no facts about '{name}'" + (f", did you mean '{nearest[0]}'?" if nearest else ""))
        if problems:
            raise ValueError(f"{'; '.join(problems)} (known types: components/contract/instance_facts.py)")
        return names

    @property
    def instances(self) -> tuple[InstanceType, ...]:
        """Facts of the pool's machine types, in the same order."""
        return tuple(INSTANCE_TYPES[name] for name in self.instance_types)

    @property
    def holds_user_work(self) -> bool:
        """Whether users' pods may run on the pool."""
        return self.role.holds_user_work

    @model_validator(mode="after")
    def _follows_its_role(self) -> Self:
        problems = [*self._role_problems(), *self._type_problems()]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _role_problems(self) -> list[str]:
        rules = {PoolRole.INITIAL: ("NG-07", "NG-08"), PoolRole.DATA: ("NG-21", "NG-21")}
        if self.role not in rules:
            return []
        static, on_demand = rules[self.role]
        problems = []
        if self.size.min != self.size.max:
            problems.append(f"{static}: a pool of role '{self.role}' is static, set size.min = size.max")
        if self.size.min < 1:
            rule = "NG-05" if self.role is PoolRole.INITIAL else static
            problems.append(f"{rule}: a pool of role '{self.role}' needs at least 1 node")
        if self.lifecycle is Lifecycle.SPOT:
            problems.append(f"{on_demand}: a pool of role '{self.role}' is on-demand, spot is refused")
        return problems

    def _type_problems(self) -> list[str]:
        problems = []
        if len(set(self.instance_types)) < len(self.instance_types):
            problems.append("instanceTypes names a type twice")
        if len({(i.provider, *i.shape) for i in self.instances}) > 1:
            shapes = ", ".join(
                f"{i.name} ({i.vcpus} vCPU, {i.memory_mib} MiB, {i.gpus} GPU, {i.architecture})" for i in self.instances
            )
            problems.append(f"NG-16: instanceTypes of one pool must have one shape, given {shapes}")
        if problem := self._gpu_resource_problem():
            problems.append(problem)
        misplaced = [i.name for i in self.instances if bool(i.gpus) != (self.role is PoolRole.GPU)]
        if misplaced:
            kind = "have no GPU" if self.role is PoolRole.GPU else "have GPUs, which belong in a pool of role 'gpu'"
            problems.append(f"NG-16: {', '.join(misplaced)} {kind}")
        return problems

    def _gpu_resource_problem(self) -> str | None:
        if self.role is not PoolRole.GPU:
            given = self.gpu_resource != DEFAULT_GPU_RESOURCE
            return "gpuResource goes with role 'gpu' only; drop it" if given else None
        problem = "it needs a domain, such as nvidia.com/gpu" if "/" not in self.gpu_resource else None
        problem = problem or label_key_problem(self.gpu_resource)
        return f"gpuResource '{self.gpu_resource}': {problem}" if problem else None
