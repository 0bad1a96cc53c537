"""User namespaces: where users' jobs, functions and notebooks run, and how much they may take."""

from ipaddress import ip_network

from pydantic import Field, field_validator

from components.contract.pools import ContractModel
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
    quota: Quota | None = Field(
        None,
        description="Default: none. Work beyond a quota is refused; without one it waits its turn by priority.",
    )
    egress_cidrs: tuple[str, ...] = Field((), description="Addresses outside the namespace that pods may reach.")

    @field_validator("egress_cidrs", mode="after")
    @classmethod
    def _are_networks(cls, cidrs: tuple[str, ...]) -> tuple[str, ...]:
        for cidr in cidrs:
            if str(ip_network(cidr)) != cidr:  # Kubernetes accepts the canonical form only
                raise ValueError(f"'{cidr}' must be written as '{ip_network(cidr)}'")
        return cidrs
