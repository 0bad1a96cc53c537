"""What happens to the cluster while the work runs."""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator

from components.contract.choices import ContractModel, Findings
from components.contract.lifecycle import Lifecycle
from components.contract.quantities import Quantity
from infra.config.tree import KIND
from workbench.rehearsal.scenario.durations import Duration, Moment
from workbench.rehearsal.scenario.places import Place

NODES_MAX: Final = 1_000
"""Maximum number of nodes that an event names; ``all`` has no limit."""


NIGHT_MIN: Final = 3_600
"""Minimum length of a night in seconds: the autoscaler removes a node 10 minutes after its last pod, by default."""


def _node_count(given: Any) -> Any:
    if given == "all" or (type(given) is int and 1 <= given <= NODES_MAX):
        return given
    raise ValueError(f"must be a number of nodes from 1 to {NODES_MAX}, or all")


NodeCount = Annotated[
    int | Literal["all"],
    BeforeValidator(_node_count),
    WithJsonSchema(
        {
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": NODES_MAX}, {"const": "all"}],
            KIND: "number of nodes, or all",
        }
    ),
]


class _Event(ContractModel):
    at: Moment = Field(description="When it happens, counted from the start of the scenario.", examples=["10m"])


class _NodeEvent(_Event):
    place: Place = Field(description="Which nodes. {} means all nodes.", examples=[{"lifecycle": "spot"}])
    nodes: NodeCount = Field(
        1,
        description="How many of these nodes, those with most pods of the scenario first. Default: 1.",
        examples=["all"],
    )


class SpotReclaim(_NodeEvent):
    """The cloud takes spot nodes back: a notice, then the node is gone with its pods."""

    event: Literal["spot-reclaim"] = Field(description="Kind of event.", examples=["spot-reclaim"])
    place: Place = Field(
        description="Which nodes: the spot nodes of this place. {} means all spot nodes.",
        examples=[{"role": "workload"}],
    )
    notice: Moment = Field(
        120,
        validate_default=False,
        description="Time between the notice and the loss of the node; AWS gives 2m, Azure 30s. Default: 2m.",
        examples=["30s"],
    )

    @field_validator("place", mode="after")
    @classmethod
    def _its_spot_nodes(cls, place: Place) -> Place:
        if place.lifecycle not in (None, Lifecycle.SPOT):
            findings = Findings()
            findings.add(
                "only spot nodes are reclaimed; use spot, or the event node-failure",
                "lifecycle",
                given=place.lifecycle.value,
            )
            findings.raise_if_any()
        return place.model_copy(update={"lifecycle": Lifecycle.SPOT})


class NodeFailure(_NodeEvent):
    """Nodes stop answering and do not come back."""

    event: Literal["node-failure"] = Field(description="Kind of event.", examples=["node-failure"])


class CapacityRefused(_Event):
    """The cloud starts no further node of a place for a time."""

    event: Literal["capacity-refused"] = Field(description="Kind of event.", examples=["capacity-refused"])
    place: Place = Field(description="Which nodes. {} means all nodes.", examples=[{"role": "gpu"}])
    lasts: Duration = Field(description="For how long.", examples=["30m"])


class RollingUpgrade(_Event):
    """Every node of a place is replaced, one at a time: a new node, then the old one is drained and deleted."""

    event: Literal["rolling-upgrade"] = Field(description="Kind of event.", examples=["rolling-upgrade"])
    place: Place = Field(description="Which nodes. {} means all nodes.", examples=[{"role": "workload"}])


class OfficeHoursEnd(_Event):
    """The office hours of pools end, and begin again after the night: their minimum is lower meanwhile."""

    event: Literal["office-hours"] = Field(description="Kind of event.", examples=["office-hours"])
    lasts: Duration = Field(
        description="Length of the night, at least 1h: the autoscaler restarts and waits before it removes nodes.",
        examples=["2h"],
    )

    @field_validator("lasts", mode="after")
    @classmethod
    def _long_enough(cls, lasts: int) -> int:
        if lasts < NIGHT_MIN:
            raise ValueError("must be at least 1h: the autoscaler restarts, and waits before it removes a node")
        return lasts


class Scale(_Event):
    """The replicas of a work change, as if a person changed them."""

    event: Literal["scale"] = Field(description="Kind of event.", examples=["scale"])
    work: str = Field(
        description="Name under works, of kind service, core-service or nuclio-function.", examples=["model"]
    )
    replicas: int = Field(ge=0, le=500, strict=True, description="New number of replicas of each unit.", examples=[10])


class Load(_Event):
    """The traffic of a work changes, and with it the CPU that its pods use."""

    event: Literal["load"] = Field(description="Kind of event.", examples=["load"])
    work: str = Field(description="Name under works, of a work with scales.", examples=["model"])
    cpu: Quantity = Field(
        description="CPU that the traffic of each unit needs from now on, divided evenly among its running pods; none "
        "uses more than its limit. 0: no traffic, as before the first such event.",
        examples=["7"],
    )


Event = Annotated[
    SpotReclaim | NodeFailure | CapacityRefused | RollingUpgrade | OfficeHoursEnd | Scale | Load,
    Field(discriminator="event"),
]
