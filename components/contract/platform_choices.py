"""Stack file model of the settings of the platform that will run on the cluster."""

from typing import Annotated

from pydantic import Field

from components.contract.choices import ContractModel, Explained
from components.contract.mlrun_choices import MlrunChoices


class PlatformChoices(ContractModel):
    """Settings of the platform that will run on the cluster, under ``platform``."""

    mlrun: Annotated[MlrunChoices, Explained("The defaults of its keys.")] = Field(
        default_factory=MlrunChoices, description="Settings of MLRun.", examples=[{"preemptionMode": "allow"}]
    )
