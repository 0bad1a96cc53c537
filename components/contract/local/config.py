"""Stack file model of a local cluster, which has no options."""

from typing import Literal

from pydantic import Field

from components.contract.choices import ContractModel


class LocalConfig(ContractModel):
    """A cluster on this machine: real control plane, simulated nodes."""

    kind: Literal["local"] = Field(description="Kind of cluster.", examples=["local"])
