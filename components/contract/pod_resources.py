"""Default requests and limits of containers."""

from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Final

from pydantic import Field, ValidationInfo, field_validator

from components.contract.choices import ContractModel, Findings
from components.contract.environments import Environment
from components.contract.instances import InstanceType
from components.contract.quantities import PositiveQuantity, parse_quantity


class ResourceAmounts(ContractModel):
    """CPU and memory of one container, as Kubernetes quantities."""

    cpu: PositiveQuantity = Field(description="Cores.", examples=["500m", "2"])
    memory: PositiveQuantity = Field(description="Memory, as a Kubernetes quantity.", examples=["1Gi"])


def beyond_any(amounts: ResourceAmounts, machines: Collection[InstanceType]) -> Iterator[tuple[str, str]]:
    """Yield each resource of which a container requests more than any machine has, and the problem."""
    vcpus, memory = max(each.vcpus for each in machines), max(each.memory_mib for each in machines)
    if parse_quantity(amounts.cpu) > vcpus:
        yield "cpu", f"is more than any node for user work has, {vcpus}; lower it"
    if parse_quantity(amounts.memory) > memory * 2**20:
        yield "memory", f"is more than any node for user work has, {memory}Mi; lower it"


class PodResources(ContractModel):
    """Default requests and limits; equal ones give a pod guaranteed quality of service."""

    requests: ResourceAmounts = Field(
        description="Resources that the scheduler reserves for the container.",
        examples=[{"cpu": "500m", "memory": "1Gi"}],
    )
    limits: ResourceAmounts = Field(
        description="Maximum that the container may use.", examples=[{"cpu": "2", "memory": "4Gi"}]
    )

    @field_validator("limits", mode="after")
    @classmethod
    def _requests_fit_limits(cls, limits: ResourceAmounts, info: ValidationInfo) -> ResourceAmounts:
        findings = Findings()
        for name in ("cpu", "memory") if "requests" in info.data else ():
            request, limit = getattr(info.data["requests"], name), getattr(limits, name)
            if parse_quantity(request) > parse_quantity(limit):
                findings.add(f"RS-02: must be at least requests.{name}, {request}", name, given=limit)
        findings.raise_if_any()
        return limits

    @property
    def ratio(self) -> Decimal:
        """Largest ratio of a limit to its request."""
        pairs = ((self.limits.cpu, self.requests.cpu), (self.limits.memory, self.requests.memory))
        return max(parse_quantity(limit) / parse_quantity(request) for limit, request in pairs)

    @property
    def is_guaranteed(self) -> bool:
        """Whether requests and limits are the same amounts."""
        return all(
            parse_quantity(getattr(self.requests, name)) == parse_quantity(getattr(self.limits, name))
            for name in ("cpu", "memory")
        )


EXPECTED: Final = (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"))
"""Resources that every container must set or gets by default.

A CPU limit is not needed: beyond its share a container uses only idle CPU, but unlimited memory gets other pods killed.
"""

DEFAULT_POD_RESOURCES: Final = {
    Environment.DEV: PodResources(
        requests=ResourceAmounts(cpu="500m", memory="1Gi"), limits=ResourceAmounts(cpu="2", memory="4Gi")
    ),
    Environment.PROD: PodResources(
        requests=ResourceAmounts(cpu="1", memory="2Gi"), limits=ResourceAmounts(cpu="1", memory="2Gi")
    ),
}
"""In production requests equal limits (Iguazio best practices, guaranteed quality of service).

Development may share idle CPU.
"""

MAX_LIMIT_REQUEST_RATIO: Final = {Environment.DEV: 4, Environment.PROD: None}
"""Maximum ratio of limit to request; None means no maximum.

More than 4 in development causes evictions. RS-05 warns about it; ``defaultPodResources`` must not exceed it.
"""
