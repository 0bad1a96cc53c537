"""What happens to the cluster while the work runs."""

from typing import Annotated, Literal

from pydantic import Field

from components.contract.choices import ContractModel
from workbench.rehearsal.scenario.durations import Duration, Moment
from workbench.rehearsal.scenario.places import Place


class _Event(ContractModel):
    at: Moment = Field(description="When it happens.", examples=["10m"])


class _NodeEvent(_Event):
    place: Place = Field(description="Which nodes.", examples=[{"lifecycle": "spot"}])
    nodes: int | Literal["all"] = Field(
        1, description="How many of these nodes, those with most pods of the scenario first.", examples=["all"]
    )


class SpotReclaim(_NodeEvent):
    """The cloud takes spot nodes back: a notice, then the node is gone with its pods."""

    event: Literal["spot-reclaim"] = Field(description="Kind of event.")
    notice: Moment = Field(
        120, validate_default=False, description="Time between notice and end. AWS: 2m, Azure: 30s.", examples=["30s"]
    )


class NodeFailure(_NodeEvent):
    """Nodes stop answering and do not come back."""

    event: Literal["node-failure"] = Field(description="Kind of event.")


class CapacityRefused(_Event):
    """The cloud starts no further node of a place for a time."""

    event: Literal["capacity-refused"] = Field(description="Kind of event.")
    place: Place = Field(description="Which nodes.", examples=[{"pool": "gpu"}])
    lasts: Duration = Field(description="For how long.", examples=["30m"])


class RollingUpgrade(_Event):
    """Every node of a place is replaced, one at a time: a new node, then the old one is drained and deleted."""

    event: Literal["rolling-upgrade"] = Field(description="Kind of event.")
    place: Place = Field(description="Which nodes.", examples=[{"role": "workload"}])


class Scale(_Event):
    """The replicas of a work change, as an autoscaler of pods or a person would do."""

    event: Literal["scale"] = Field(description="Kind of event.")
    work: str = Field(description="Name under works, of kind service, core-service or nuclio-function.", examples=["model"])
    replicas: int = Field(ge=0, le=500, strict=True, description="New number of replicas of each unit.", examples=[10])


Event = Annotated[
    SpotReclaim | NodeFailure | CapacityRefused | RollingUpgrade | Scale, Field(discriminator="event")
]
