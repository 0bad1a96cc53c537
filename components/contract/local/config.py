"""Stack file model of a local cluster."""

from typing import Final, Literal

from pydantic import Field

from components.contract.choices import ContractModel
from components.contract.ingress import OwnIngressChoice

SERVICE_CIDR: Final = "10.96.0.0/16"
"""Range of Services of every local cluster."""


class LocalConfig(ContractModel):
    """A cluster on this machine: real control plane, simulated nodes."""

    kind: Literal["local"] = Field(description="Kind of cluster.", examples=["local"])
    ingress: OwnIngressChoice = None
