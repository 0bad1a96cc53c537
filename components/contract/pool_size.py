"""Sizes of node pools."""

from typing import Annotated, Final

from pydantic import Field, ValidationInfo, field_validator
from typing_extensions import override

from components.contract.choices import ContractModel, Explained

NODES_MAX: Final = 1000
"""Maximum number of nodes that AKS allows in a group, the highest of all clouds: https://learn.microsoft.com/azure/aks/quotas-skus-regions."""


class PoolSize(ContractModel):
    """Nodes of a pool; equal bounds make it static, different ones leave the size to the autoscaler."""

    min: Annotated[
        int, Explained(decides="The autoscaler keeps at least this many nodes; with 0 an idle pool scales to zero.")
    ] = Field(ge=0, le=NODES_MAX, strict=True, description="Minimum number of nodes.", examples=[1])
    max: Annotated[
        int, Explained(decides="The autoscaler adds no nodes beyond it; with several shapes it applies to each.")
    ] = Field(ge=1, le=NODES_MAX, strict=True, description="Maximum number of nodes.", examples=[10])

    @field_validator("max", mode="after")
    @classmethod
    def _not_below_min(cls, largest: int, info: ValidationInfo) -> int:
        smallest = info.data.get("min", largest)
        if smallest > largest:
            raise ValueError(f"must be at least size.min, {smallest}; swap them or raise max")
        return largest

    @property
    def is_elastic(self) -> bool:
        """Whether the autoscaler owns the size between the bounds."""
        return self.min < self.max

    @override
    def __str__(self) -> str:
        """Return ``2`` for a static size, and ``0..20`` for an elastic one."""
        return f"{self.min}..{self.max}" if self.is_elastic else str(self.min)
