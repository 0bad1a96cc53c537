"""What a stack file may choose about a cluster on this machine: nothing but that it is one."""

from typing import Literal

from pydantic import Field

from components.contract.choices import ContractModel


class LocalConfig(ContractModel):
    """A cluster on this machine: real control plane, simulated nodes."""

    kind: Literal["local"] = Field(description="Where the cluster lives.", examples=["local"])
