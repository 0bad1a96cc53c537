"""Requests and limits that a container gets when its author names none."""

from decimal import Decimal
from typing import Final, Self

from pydantic import Field, field_validator, model_validator

from components.contract.environments import Environment
from components.contract.pools import ContractModel
from components.contract.quantities import parse_quantity


class ResourceAmounts(ContractModel):
    """CPU and memory of one container, as Kubernetes quantities."""

    cpu: str = Field(description="Cores, such as 500m or 2.")
    memory: str = Field(description="Bytes, such as 1Gi.")

    @field_validator("cpu", "memory", mode="after")
    @classmethod
    def _is_positive(cls, text: str) -> str:
        if parse_quantity(text) == 0:
            raise ValueError(f"'{text}' must be more than 0")
        return text


class PodResources(ContractModel):
    """Default requests and limits; equal ones give a pod guaranteed quality of service."""

    requests: ResourceAmounts
    limits: ResourceAmounts

    @model_validator(mode="after")
    def _requests_fit_limits(self) -> Self:
        for name in ("cpu", "memory"):
            request, limit = getattr(self.requests, name), getattr(self.limits, name)
            if parse_quantity(request) > parse_quantity(limit):
                raise ValueError(f"RS-02: requests.{name} {request} is above limits.{name} {limit}")
        return self

    @property
    def ratio(self) -> Decimal:
        """Largest limit in units of its request."""
        pairs = ((self.limits.cpu, self.requests.cpu), (self.limits.memory, self.requests.memory))
        return max(parse_quantity(limit) / parse_quantity(request) for limit, request in pairs)

    @property
    def is_guaranteed(self) -> bool:
        """Whether requests and limits are the same amounts."""
        return all(
            parse_quantity(getattr(self.requests, name)) == parse_quantity(getattr(self.limits, name))
            for name in ("cpu", "memory")
        )


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
"""How far a limit may exceed its request; None sets no bound. More than 4 in development invites evictions.

It binds users' namespaces only: charts of core services often request little and allow much.
"""
