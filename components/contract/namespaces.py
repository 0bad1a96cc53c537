"""User namespaces: where users' jobs, functions and notebooks run, and how much they may take."""

from ipaddress import ip_network

from pydantic import Field, field_validator

from components.contract.groups import NodeGroup
from components.contract.pools import ContractModel, PoolRole
from components.contract.quantities import parse_quantity


class Quota(ContractModel):
    """Most that all pods of a namespace may request together, as Kubernetes quantities."""

    cpu: str = Field(description="Cores, such as 64.")
    memory: str = Field(description="Bytes, such as 256Gi.")
    gpus: int = Field(0, ge=0, description="Whole GPUs.")

    @field_validator("cpu", "memory", mode="after")
    @classmethod
    def _is_quantity(cls, text: str) -> str:
        parse_quantity(text)
        return text


class UserNamespace(ContractModel):
    """Choices about one user namespace."""

    core_services: bool = Field(
        default=False,
        description="Whether the platform's own services are installed here too, as the MLRun CE chart does.",
    )
    quota: Quota | None = Field(None, description="Default: what the pools offer at their maximum.")
    egress_cidrs: tuple[str, ...] = Field((), description="Addresses outside the namespace that pods may reach.")

    @field_validator("egress_cidrs", mode="after")
    @classmethod
    def _are_networks(cls, cidrs: tuple[str, ...]) -> tuple[str, ...]:
        for cidr in cidrs:
            ip_network(cidr)
        return cidrs


def capacity_quota(groups: tuple[NodeGroup, ...], *, core_services: bool) -> Quota:
    """Return what the user pools offer at their maximum, with the initial pool where core services share the quota."""
    counted = [g for g in groups if g.holds_user_work or (core_services and g.role is PoolRole.INITIAL)]
    machines = [(group.size.max, group.instances[0]) for group in counted]
    return Quota(
        cpu=str(sum(count * machine.vcpus for count, machine in machines)),
        memory=f"{sum(count * machine.memory_mib for count, machine in machines)}Mi",
        gpus=sum(count * machine.gpus for count, machine in machines),
    )
