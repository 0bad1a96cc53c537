"""Node pools as a stack file describes them: role, size, lifecycle and machine types.

Everything else about a pool (labels, taints, tolerations, autoscaler hints) is derived in ``groups``. Messages start
with the id of the rule that requires the same.
"""

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from components.contract.choices import ContractModel, Explained
from components.contract.fabric import PoolCloseness, PoolFabric, require_closeness
from components.contract.gpus import DEFAULT_GPU_RESOURCE, resource_problem
from components.contract.headroom import Headroom, PoolHeadroom
from components.contract.hours import PoolHours
from components.contract.instances import ARM64, INSTANCE_TYPES, InstanceType
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.own_machines import Machine
from components.contract.pool_names import InstanceTypeName, LabelName, LabelValue, PoolZone
from components.contract.pool_rules import (
    INITIAL_MAX,
    STATIC_ROLE_RULES,
    require_fitting_machine,
    require_fitting_shape,
    require_fitting_size,
    require_fitting_types,
    require_shape,
)
from components.contract.pool_size import PoolSize
from components.contract.pool_upgrade import ChosenUpgrade
from components.contract.prepull import IMAGES_MAX, PrepullImages
from components.contract.reservation import ROLES as RESERVED_ROLES
from components.contract.reservation import Reservation, require_reservation
from components.contract.roles import GPU_ROLES, JOB_ROLES, USER_ROLES, PoolRole
from components.contract.shapes import MachineShape
from components.contract.sharing import Sharing, gpu_resource_of, require_shareable
from components.contract.taints import ARM_TAINT
from components.contract.warm_pool import PoolWarmPool, WarmPool

__all__ = [
    "GPU_ROLES",
    "INITIAL_MAX",
    "JOB_ROLES",
    "TYPES_MAX",
    "USER_ROLES",
    "NodePool",
    "PoolRole",
    "PoolSize",
]

TYPES_MAX: Final = 20
"""Maximum number of machine types of an EKS node group: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html."""


def _is_zonal_by_role(choices: dict[str, Any]) -> bool:
    role = choices.get("role")
    return isinstance(role, PoolRole) and role.has_zonal_volumes


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
            f"Label {LabelKey.LIFECYCLE}; on spot nodes their taint; MLRun's preemption settings; on reserved ones the "
            f"label {LabelKey.RESERVED}.",
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
        description="Shape by which instanceTypes were selected (docs/machines.md); it does not change the list.",
        examples=[{"vcpus": 8, "memoryGib": 32}],
    )
    instance_types: Annotated[
        tuple[InstanceTypeName, ...],
        Explained(
            "Empty if machine is set; otherwise required.",
            "Capacity of the nodes; a node group for each shape (vCPUs, memory, GPUs) among them; for ARM machines, "
            f"if there is an amd64 pool for the same pods, the taint {ARM_TAINT}.",
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
    sharing: Annotated[
        Sharing | None,
        Explained(
            "Most training needs whole GPUs.",
            f"What nodes offer instead of {DEFAULT_GPU_RESOURCE}, and how much of it: their taint, label "
            f"{LabelKey.GPU_SHARING}, capacity, autoscaler hints and quotas (docs/gpus.md).",
        ),
    ] = Field(
        None,
        discriminator="mode",
        description="How several pods share each GPU of the pool; pools of role gpu only.",
        examples=[{"mode": "mig", "profile": "1g.10gb"}],
    )
    gpu_resource: Annotated[
        str | None,
        Explained(
            f"In pools of role gpu that of the GPUs' maker, such as {DEFAULT_GPU_RESOURCE}, or of their shares; none "
            "elsewhere.",
            "Taint RESOURCE=present:NoSchedule; GPU quotas of user namespaces.",
        ),
    ] = Field(
        default_factory=gpu_resource_of,
        description="Resource name of its GPUs; pools of role gpu only.",
        examples=["amd.com/gpu"],
    )
    zonal: Annotated[
        bool,
        Explained(
            "true for roles jupyter and data, whose volumes exist in one zone; groups of other roles span all zones, "
            "so that one without capacity does not matter.",
            "In a cloud: a node group for each zone, among which the size is divided. From zero, only such groups "
            "start a node for a pod that needs a certain zone. On EKS set true for long jobs: Auto Scaling may "
            "terminate busy nodes of groups over several zones to balance them.",
        ),
    ] = Field(
        default_factory=_is_zonal_by_role,
        strict=True,
        description="Whether each zone has its own node group. A change replaces the pool's groups.",
        examples=[True],
    )

    zone: Annotated[
        PoolZone | None,
        Explained("In several zones, one without capacity does not matter.", "The only zone of the pool's nodes."),
    ] = Field(None, description="The zone of all nodes: a letter on EKS, a number on AKS.", examples=["b"])
    reservation: Annotated[
        Reservation | None,
        Explained(
            "Capacity is reserved outside the stack.",
            "The capacity that the pool's machines use; without the reservation none starts (docs/gpus.md).",
        ),
    ] = Field(
        None,
        description="Capacity that the pool uses; for lifecycle reserved.",
        examples=[{"id": "cr-0a91582543292e10a"}],
    )
    fabric: PoolFabric = Field(
        False,  # noqa: FBT003 it is the default of the key
        strict=True,
        description="Whether nodes have the cloud's fast network (EFA); pools of role gpu on EKS only.",
        examples=[True],
    )
    close_together: PoolCloseness = Field(
        False,  # noqa: FBT003 it is the default of the key
        strict=True,
        description="Whether the cloud places the nodes close to each other; EKS and AKS only.",
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
    upgrade: ChosenUpgrade = Field(
        None, description="Limits of node upgrades (docs/node-upgrades.md); EKS and AKS only.", examples=[{"nodes": 1}]
    )
    headroom: PoolHeadroom = Field(
        None,
        description="Room that stays free in addition to running pods; elastic pools on EKS and local clusters only.",
        examples=[{"pods": 2, "cpu": "3", "memory": "12Gi"}],
    )
    prepull_images: PrepullImages = Field(
        (),
        max_length=IMAGES_MAX,
        description="Images that every node of the pool pulls when it starts; pools for user work on EKS, AKS, local.",
        examples=[["nvcr.io/nvidia/pytorch:25.06-py3"]],
    )
    warm_pool: PoolWarmPool = Field(
        None, description="Stand-by machines; elastic on-demand pools on EKS only.", examples=[{"nodes": 2}]
    )

    @property
    def instances(self) -> tuple[InstanceType, ...]:
        """The pool's machine types, in the same order, or the machine that replaces them."""
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
        if role in STATIC_ROLE_RULES and lifecycle is not Lifecycle.ON_DEMAND:
            rule = STATIC_ROLE_RULES[role].on_demand
            raise ValueError(f"{rule}: a pool of role '{role}' must be on-demand")
        if lifecycle is Lifecycle.RESERVED and role not in (*RESERVED_ROLES, None):
            raise ValueError(f"reserved capacity is for pools of role {' or '.join(RESERVED_ROLES)}")
        return lifecycle

    @field_validator("size", mode="after")
    @classmethod
    def _static_roles_keep_their_size(cls, size: PoolSize, info: ValidationInfo) -> PoolSize:
        require_fitting_size(size, info.data.get("role"))
        return size

    @field_validator("machine", mode="after")
    @classmethod
    def _machine_fits_the_role(cls, machine: Machine | None, info: ValidationInfo) -> Machine | None:
        require_fitting_machine(machine, info.data.get("role"))
        return machine

    @field_validator("shape", mode="after")
    @classmethod
    def _shape_fits_the_role(cls, shape: MachineShape | None, info: ValidationInfo) -> MachineShape | None:
        if shape:
            require_fitting_shape(shape, info.data)
        return shape

    @field_validator("instance_types", mode="after")
    @classmethod
    def _types_are_alike_and_fit_the_role(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        require_fitting_types(names, info.data)
        return names

    @field_validator("instance_types", mode="after")
    @classmethod
    def _types_have_the_shape(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        require_shape(names, info.data.get("shape"))
        return names

    @field_validator("sharing", mode="after")
    @classmethod
    def _gpus_can_be_shared(cls, sharing: Sharing | None, info: ValidationInfo) -> Sharing | None:
        if sharing:
            machine, names = info.data.get("machine"), info.data.get("instance_types", ())
            machines = (machine.instance,) if machine else tuple(INSTANCE_TYPES[name] for name in names)
            require_shareable(sharing, info.data.get("role"), machines)
        return sharing

    @field_validator("gpu_resource", mode="after")
    @classmethod
    def _gpu_resource_is_named_by_gpu_pools(cls, name: str | None, info: ValidationInfo) -> str | None:
        role = info.data.get("role")
        if role not in (PoolRole.GPU, None) and name is not None:
            raise ValueError("is allowed in pools of role 'gpu' only; remove it")
        if role is PoolRole.GPU and name is None:
            raise ValueError(f"must not be null in a pool of role 'gpu'; remove the key to use {DEFAULT_GPU_RESOURCE}")
        if name is not None and (problem := resource_problem(name)):
            raise ValueError(problem)
        if (sharing := info.data.get("sharing")) and name != sharing.resource:
            raise ValueError(f"follows from sharing, {sharing.resource}; remove it")
        return name

    @field_validator("zonal", mode="after")
    @classmethod
    def _static_roles_have_their_zones(cls, is_zonal: bool, info: ValidationInfo) -> bool:  # noqa: FBT001 the value
        role = info.data.get("role")
        if role in STATIC_ROLE_RULES and is_zonal != role.has_zonal_volumes:
            raise ValueError(f"is always {str(role.has_zonal_volumes).lower()} in a pool of role '{role}'; remove it")
        return is_zonal

    @field_validator("zone", mode="after")
    @classmethod
    def _is_one_of_many(cls, zone: str | None, info: ValidationInfo) -> str | None:
        role = info.data.get("role")
        if zone and role in STATIC_ROLE_RULES:
            raise ValueError(f"a pool of role '{role}' is in all zones; remove it")
        if zone and info.data.get("zonal"):
            raise ValueError("cannot be combined with a group for each zone; remove it, or set zonal: false")
        return zone

    @field_validator("reservation", mode="after")
    @classmethod
    def _reservation_fits(cls, reservation: Reservation | None, info: ValidationInfo) -> Reservation | None:
        require_reservation(reservation, info.data)
        return reservation

    @field_validator("fabric", "close_together", mode="after")
    @classmethod
    def _are_close(cls, wanted: bool, info: ValidationInfo) -> bool:  # noqa: FBT001 the value
        if wanted:
            require_closeness(str(info.field_name), info.data)
        return wanted

    @field_validator("office_hours", mode="after")
    @classmethod
    def _hours_lower_a_minimum(cls, hours: PoolHours | None, info: ValidationInfo) -> PoolHours | None:
        role, size = info.data.get("role"), info.data.get("size")
        if hours and role in STATIC_ROLE_RULES:
            rule = STATIC_ROLE_RULES[role].static
            raise ValueError(f"{rule}: a pool of role '{role}' keeps its size at all hours; remove it")
        if hours and size:
            hours.require_effect(size)
        return hours

    @field_validator("headroom", "warm_pool", mode="after")
    @classmethod
    def _fits_the_pool(cls, choice: Headroom | WarmPool | None, info: ValidationInfo) -> Headroom | WarmPool | None:
        if choice:
            choice.require_fit(info.data)
        return choice

    @field_validator("prepull_images", mode="after")
    @classmethod
    def _images_are_for_user_work(cls, images: PrepullImages, info: ValidationInfo) -> PrepullImages:
        if images and (role := info.data.get("role")) and not role.holds_user_work:
            raise ValueError(f"is for images of user work, which never runs in a pool of role '{role}'; remove it")
        return images
