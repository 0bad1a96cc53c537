"""The choices of a stack file under ``cluster``."""

from typing import Annotated, Literal

from pydantic import Field

from components.contract.choices import ContractModel
from components.contract.kubernetes_minors import one_offered


class PretendConfig(ContractModel):
    """A cluster of the pretended cloud."""

    kind: Literal["pretend"] = Field(description="Kind of cluster.", examples=["pretend"])
    zones: tuple[str, ...] = Field(min_length=2, description="Zones.", examples=[["x", "y"]])
    version: Annotated[str, *one_offered("pretend", "is not offered")] = Field(
        description="Minor version of Kubernetes.", examples=["1.35"]
    )
    tags: dict[str, str] = Field({}, description="Tags.", examples=[{"team": "a"}])
