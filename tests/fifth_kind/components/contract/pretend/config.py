"""The choices of a stack file under ``cluster``."""

from typing import Literal

from pydantic import Field

from components.contract.choices import ContractModel


class PretendConfig(ContractModel):
    """A cluster of the pretended cloud."""

    kind: Literal["pretend"] = Field(description="Kind of cluster.", examples=["pretend"])
    zones: tuple[str, ...] = Field(min_length=2, description="Zones.", examples=[["x", "y"]])
    version: str = Field(description="Minor version of Kubernetes.", examples=["1.35"])
