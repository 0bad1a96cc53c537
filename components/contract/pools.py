"""Node pools as a stack file describes them: role, size, lifecycle and machine types.

Everything else about a pool (labels, taints, tolerations, autoscaler hints) is derived in ``groups``. Messages start
with the id of the rule that requires the same.
"""

from typing import Annotated, Any, Final, NamedTuple

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from components.contract.choices import ContractModel, Explained, Findings
from components.contract.hours import PoolHours
from components.contract.instances import ARM64, INSTANCE_TYPES, InstanceType, Variant
from components.contract.labels import LabelKey, label_key_problem
from components.contract.lifecycle import Lifecycle
from components.contract.own_machines import Machine
from components.contract.pool_names import InstanceTypeName, LabelName, LabelValue
from components.contract.pool_size import PoolSize
from components.contract.pool_upgrade import PoolUpgrade
from components.contract.roles import GPU_ROLES, JOB_ROLES, USER_ROLES, PoolRole
from components.contract.shapes import MachineShape
from components.contract.taints import ARM_TAINT

__all__ = [
    "DEFAULT_GPU_RESOURCE",
    "GPU_ROLES",
    "INITIAL_MAX",
    "JOB_ROLES",
    "RESOURCES",
    "TYPES_MAX",
    "USER_ROLES",
    "WHOLE_GPUS",
    "NodePool",
    "PoolRole",
    "PoolSize",
]

INITIAL_MAX: Final = 50
"""Maximum number of initial nodes, far beyond what core services need: more come from a mistake."""

DEFAULT_GPU_RESOURCE: Final = "nvidia.com/gpu"
"""Extended resource of NVIDIA's device plug-in."""

WHOLE_GPUS: Final = (DEFAULT_GPU_RESOURCE, "amd.com/gpu")
"""Names under which device plug-ins offer whole GPUs."""

RESOURCES: Final = {"nvidia": DEFAULT_GPU_RESOURCE, "amd": "amd.com/gpu", "aws": "aws.amazon.com/neuron"}
"""Extended resources of the makers' own device plug-ins: https://github.com/ROCm/k8s-device-plugin,
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html."""

TYPES_MAX: Final = 20
"""Maximum number of machine types of an EKS node group: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html."""


def _is_zonal_by_role(choices: dict[str, Any]) -> bool:
    role = choices.get("role")
    return isinstance(role, PoolRole) and role.has_zonal_volumes


def _gpu_resource_of(choices: dict[str, Any]) -> str | None:
    if choices.get("role") is not PoolRole.GPU:
        return None
    types = choices.get("instance_types")
    return RESOURCES.get(INSTANCE_TYPES[types[0]].gpu_maker, DEFAULT_GPU_RESOURCE) if types else DEFAULT_GPU_RESOURCE


class NodePool(ContractModel):
    """One pool of nodes with the same role and lifecycle."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["instanceTypes"]}, {"required": ["machine"]}]})

    role: Annotated[
        PoolRole, Explained(decides=f"Label {LabelKey.ROLE}; which pods may run there; the limits of the other keys.")
    ] = Field(description="Role of the pool.", examples=["workload"])
    lifecycle: Annotated[
        Lifecycle,
        Explained(
            "Spot nodes suit only work that survives an interruption.",
            f"Label {LabelKey.LIFECYCLE}; on spot nodes their taint; MLRun's preemption settings.",
        ),
    ] = Field(Lifecycle.ON_DEMAND, description="Capacity type of its instances.", examples=["spot"])
    size: Annotated[PoolSize, Explained(decides="Bounds of the autoscaler, or a fixed number of nodes.")] = Field(
        description="Minimum and maximum number of nodes.", examples=[{"min": 0, "max": 10}]
    )
    machine: Annotated[
        Machine | None,
        Explained("Cloud machines are known by their types.", "Capacity of nodes without a machine type."),
    ] = Field(
        None,
        description="Resources of each node, instead of instanceTypes; with cluster.kind existing only.",
        examples=[{"vcpus": 32, "memoryGib": 128}],
    )
    shape: Annotated[
        MachineShape | None,
        Explained(
            "instanceTypes may be chosen by hand.",
            "Which types `igz-clusters machines` selects; every type in instanceTypes must have it.",
        ),
    ] = Field(
        None,
        description="Shape by which instanceTypes were selected (docs/machines.md); the list stays as it is written.",
        examples=[{"vcpus": 8, "memoryGib": 32}],
    )
    instance_types: Annotated[
        tuple[InstanceTypeName, ...],
        Explained(
            "Empty if machine is set; otherwise required.",
            "Capacity of the nodes; a node group for each shape (vCPUs, memory, GPUs) among them; for ARM machines "
            f"beside an amd64 pool for the same pods, the taint {ARM_TAINT}.",
        ),
    ] = Field(
        (),
        max_length=TYPES_MAX,
        json_schema_extra={"minItems": 1},
        description="Machine types of one architecture, preferred first; of one shape, except in elastic user pools.",
        examples=[["m6i.2xlarge", "m5.2xlarge"]],
    )
    labels: Annotated[
        dict[LabelName, LabelValue],
        Explained("This package sets its own labels.", "Further labels of every node of the pool."),
    ] = Field({}, description="Additional node labels; reserved prefixes are rejected.", examples=[{"team": "vision"}])
    gpu_resource: Annotated[
        str | None,
        Explained(
            f"In pools of role gpu that of the GPUs' maker, such as {DEFAULT_GPU_RESOURCE}; none elsewhere.",
            "Taint RESOURCE=present:NoSchedule; GPU quotas of user namespaces.",
        ),
    ] = Field(
        default_factory=_gpu_resource_of,
        description="Resource name of its GPUs; pools of role gpu only.",
        examples=["amd.com/gpu"],
    )
    zonal: Annotated[
        bool,
        Explained(
            "true for roles jupyter and data, whose volumes exist in one zone; groups of other roles span all zones, "
            "because one without capacity then does not matter.",
            "In a cloud: a node group for each zone, among which the size is divided. From zero, only such groups "
            "start a node for a pod that needs a certain zone.",
        ),
    ] = Field(
        default_factory=_is_zonal_by_role,
        strict=True,
        description="Whether each zone has a node group of its own. A change replaces the pool's groups.",
        examples=[True],
    )
    office_hours: Annotated[
        PoolHours | None,
        Explained(
            "The minimum is the same at all hours.",
            "On EKS two scheduled actions of the pool's groups; a local cluster keeps the minimum, because it has no "
            "clock.",
        ),
    ] = Field(
        None,
        description="Hours outside which the minimum is lower; elastic pools on EKS and local clusters only.",
        examples=[{"from": "08:00", "to": "19:00", "timeZone": "Europe/Berlin"}],
    )
    upgrade: Annotated[
        PoolUpgrade | None, Explained("The defaults of its keys; settings that a cluster already has stay.")
    ] = Field(
        None, description="Limits of node upgrades (docs/node-upgrades.md); EKS and AKS only.", examples=[{"nodes": 1}]
    )

    @property
    def instances(self) -> tuple[InstanceType, ...]:
        """Facts about the pool's machine types, in the same order, or about the machine that replaces them."""
        return (self.machine.instance,) if self.machine else tuple(INSTANCE_TYPES[name] for name in self.instance_types)

    @property
    def holds_user_work(self) -> bool:
        """Whether users' pods may run on the pool."""
        return self.role.holds_user_work

    @property
    def is_arm(self) -> bool:
        """Whether the pool's machines run images for arm64; all of them have one architecture."""
        return self.instances[0].architecture == ARM64

    @field_validator("lifecycle", mode="after")
    @classmethod
    def _static_roles_are_on_demand(cls, lifecycle: Lifecycle, info: ValidationInfo) -> Lifecycle:
        role = info.data.get("role")
        if role in _STATIC_ROLE_RULES and lifecycle is Lifecycle.SPOT:
            rule = _STATIC_ROLE_RULES[role].on_demand
            raise ValueError(f"{rule}: a pool of role '{role}' must be on-demand")
        return lifecycle

    @field_validator("size", mode="after")
    @classmethod
    def _static_roles_keep_their_size(cls, size: PoolSize, info: ValidationInfo) -> PoolSize:
        findings, role = Findings(), info.data.get("role")
        if role in _STATIC_ROLE_RULES:
            rules = _STATIC_ROLE_RULES[role]
            if size.min != size.max:
                message = f"{rules.static}: a pool of role '{role}' must have a fixed size, set size.min = size.max"
                findings.add(message, given=str(size))
            if size.min < 1:
                findings.add(
                    f"{rules.not_empty}: a pool of role '{role}' must have at least 1 node", "min", given=size.min
                )
        if role is PoolRole.INITIAL and size.max > INITIAL_MAX:
            message = f"a pool of role 'initial' must have at most {INITIAL_MAX} nodes: it runs core services only"
            findings.add(message, "max", given=size.max)
        findings.raise_if_any()
        return size

    @field_validator("machine", mode="after")
    @classmethod
    def _machine_fits_the_role(cls, machine: Machine | None, info: ValidationInfo) -> Machine | None:
        findings, role = Findings(), info.data.get("role")
        if machine and role is PoolRole.GPU and not machine.gpus:
            findings.add("NG-16: must be at least 1 in a pool of role 'gpu'", "gpus", given=machine.gpus)
        elif machine and role not in (PoolRole.GPU, None) and machine.gpus:
            findings.add("NG-16: GPUs need a pool of role 'gpu'", "gpus", given=machine.gpus)
        findings.raise_if_any()
        return machine

    @field_validator("shape", mode="after")
    @classmethod
    def _shape_fits_the_role(cls, shape: MachineShape | None, info: ValidationInfo) -> MachineShape | None:
        findings, role = Findings(), info.data.get("role")
        if shape and info.data.get("machine"):
            raise ValueError("cannot be combined with machine; set one of the two")
        if shape and role is PoolRole.GPU and not shape.gpu:
            findings.add("NG-16: is required in a pool of role 'gpu', such as {model: A10G}", "gpu")
        elif shape and role not in (PoolRole.GPU, None) and shape.gpu:
            findings.add("NG-16: GPUs need a pool of role 'gpu'", "gpu", given=shape.gpu.model)
        if shape and role is PoolRole.DATA and not shape.local_nvme:
            findings.add("NG-22: must be true in a pool of role 'data', which needs local disks", "localNvme")
        if shape and role in _STATIC_ROLE_RULES and Variant.BURSTABLE in shape.variants:
            findings.add(
                f"a pool of role '{role}' works all the time, beyond CPU credits; remove burstable", "variants"
            )
        findings.raise_if_any()
        return shape

    @field_validator("instance_types", mode="after")
    @classmethod
    def _types_are_alike_and_fit_the_role(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if "machine" not in info.data or info.data["machine"]:
            if names:
                raise ValueError("cannot be combined with machine; set one of the two")
            return names
        findings, role, one_shape = Findings(), info.data.get("role"), _one_shape_rule(info.data)
        shape = info.data.get("shape")
        if not names:
            way = "; `igz-clusters machines STACK --write` writes those that have the shape" if shape else ""
            findings.add(f"is required: a list of text{way}")
            findings.raise_if_any()
        first, *_ = instances = [INSTANCE_TYPES[name] for name in names]
        for index, instance in enumerate(instances):
            if instance in instances[:index]:
                findings.add("lists a machine type twice; remove one", index, given=instance.name)
            if role is PoolRole.GPU and not instance.gpus:
                findings.add("NG-16: has no GPU, but the pool's role is 'gpu'", index, given=instance.name)
            elif role not in (PoolRole.GPU, None) and instance.gpus:
                findings.add("NG-16: has GPUs, which need a pool of role 'gpu'", index, given=instance.name)
            elif (instance.provider, instance.architecture) != (first.provider, first.architecture):
                rule = "NG-16: the machine types of a pool must share one architecture and one cloud"
                message = f"{rule}; this is {_make(instance)}, the first is {_make(first)}"
                findings.add(message, index, given=instance.name)
            elif one_shape and instance.shape != first.shape:
                message = f"NG-16: {one_shape}; this is {_shape(instance)}, the first is {_shape(first)}"
                findings.add(message, index, given=instance.name)
        findings.raise_if_any()
        return names

    @field_validator("instance_types", mode="after")
    @classmethod
    def _types_have_the_shape(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        shape: MachineShape | None = info.data.get("shape")
        if shape is None:
            return names
        findings = Findings()
        for index, name in enumerate(names):
            if problem := shape.problem(INSTANCE_TYPES[name]):
                findings.add(f"does not have the pool's shape: it {problem}", index, given=name)
        findings.raise_if_any()
        return names

    @field_validator("gpu_resource", mode="after")
    @classmethod
    def _gpu_resource_is_named_by_gpu_pools(cls, name: str | None, info: ValidationInfo) -> str | None:
        role = info.data.get("role")
        if role not in (PoolRole.GPU, None) and name is not None:
            raise ValueError("is allowed in pools of role 'gpu' only; remove it")
        if role is PoolRole.GPU and name is None:
            raise ValueError(f"must not be null in a pool of role 'gpu'; remove the key to use {DEFAULT_GPU_RESOURCE}")
        if name is not None and "/" not in name:
            raise ValueError(f"needs a domain, such as {DEFAULT_GPU_RESOURCE}")
        if name is not None and (problem := label_key_problem(name)):
            raise ValueError(problem)
        return name

    @field_validator("zonal", mode="after")
    @classmethod
    def _static_roles_have_their_zones(cls, is_zonal: bool, info: ValidationInfo) -> bool:  # noqa: FBT001 the value
        role = info.data.get("role")
        if role in _STATIC_ROLE_RULES and is_zonal != role.has_zonal_volumes:
            raise ValueError(f"is always {str(role.has_zonal_volumes).lower()} in a pool of role '{role}'; remove it")
        return is_zonal

    @field_validator("office_hours", mode="after")
    @classmethod
    def _hours_lower_a_minimum(cls, hours: PoolHours | None, info: ValidationInfo) -> PoolHours | None:
        role, size = info.data.get("role"), info.data.get("size")
        if hours and role in _STATIC_ROLE_RULES:
            rule = _STATIC_ROLE_RULES[role].static
            raise ValueError(f"{rule}: a pool of role '{role}' keeps its size at all hours; remove it")
        if hours and size:
            hours.require_effect(size)
        return hours


class _StaticRoleRules(NamedTuple):
    """Ids of the rules that a pool of a static role follows."""

    static: str
    not_empty: str
    on_demand: str


_STATIC_ROLE_RULES: Final = {
    PoolRole.INITIAL: _StaticRoleRules(static="NG-07", not_empty="NG-05", on_demand="NG-08"),
    PoolRole.DATA: _StaticRoleRules(static="NG-21", not_empty="NG-21", on_demand="NG-21"),
}


def _one_shape_rule(choices: dict[str, Any]) -> str | None:
    """Return why all types of a pool must have one shape; None if they need not, or if that cannot be known."""
    role, size = choices.get("role"), choices.get("size")
    if role in _STATIC_ROLE_RULES:
        return f"the machine types of a pool of role '{role}' must have one shape"
    if size and not size.is_elastic:
        return f"a pool of fixed size ({size}) must have one shape; use one, or make size.min differ from size.max"
    return None


def _make(instance: InstanceType) -> str:
    return f"{instance.architecture}, {instance.provider}"


def _shape(instance: InstanceType) -> str:
    return f"{instance.vcpus} vCPU, {instance.memory_mib} MiB, {instance.gpus} GPU"
