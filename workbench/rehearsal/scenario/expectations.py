"""What a scenario expects; each kind is judged in ``workbench/rehearsal/verdicts``."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from components.contract.choices import ContractModel, Findings
from workbench.rehearsal.scenario.durations import Duration, Moment
from workbench.rehearsal.scenario.places import Place

_Amount = Annotated[float, Field(ge=0, le=1_000_000_000, strict=True, allow_inf_nan=False)]
_Percent = Annotated[float, Field(gt=0, le=100, strict=True, allow_inf_nan=False)]


class _OfWork(ContractModel):
    work: str = Field(description="Name under works.", examples=["train"])


class LandsOn(_OfWork):
    """Every pod of a work that was placed runs in a place; one that was never placed misses it too."""

    expect: Literal["lands-on"] = Field(description="Kind of expectation.", examples=["lands-on"])
    place: Place = Field(description="Where.", examples=[{"role": "gpu"}])


class NeverOn(_OfWork):
    """No pod of a work ever runs in a place."""

    expect: Literal["never-on"] = Field(description="Kind of expectation.", examples=["never-on"])
    place: Place = Field(description="Where not.", examples=[{"lifecycle": "spot"}])

    @field_validator("place", mode="after")
    @classmethod
    def _leaves_nodes(cls, place: Place) -> Place:
        findings = Findings()
        if not place.model_dump(exclude_none=True):
            findings.add("needs pool, role, lifecycle or zone: without one it means all nodes")
        findings.raise_if_any()
        return place


class WaitsAtMost(_OfWork):
    """Pods run within a time after their creation; pods that still wait at the end, but not as long, are left out."""

    expect: Literal["waits-at-most"] = Field(description="Kind of expectation.", examples=["waits-at-most"])
    time: Duration = Field(description="Longest wait.", examples=["5m"])
    percent: _Percent = Field(
        100, description="Share of the pods that must meet it, in percent. Default: 100.", examples=[95]
    )


class Completes(_OfWork):
    """Units end successfully before the scenario ends."""

    expect: Literal["completes"] = Field(description="Kind of expectation.", examples=["completes"])
    percent: _Percent = Field(100, description="Share of the units, in percent. Default: 100.", examples=[95])


class Survives(_OfWork):
    """No pod of a work is lost to an event, a preemption or the removal of its node."""

    expect: Literal["survives"] = Field(description="Kind of expectation.", examples=["survives"])


class Restarted(_OfWork):
    """Whenever a pod of a work is lost, as many as before run again in time. A scenario without a loss misses it."""

    expect: Literal["restarted"] = Field(description="Kind of expectation.", examples=["restarted"])
    time: Duration = Field(description="Longest time between loss and the replacement's start.", examples=["5m"])


class KeepsUp(_OfWork):
    """The running pods of a unit can take its traffic, after each rise or loss within a time."""

    expect: Literal["keeps-up"] = Field(description="Kind of expectation.", examples=["keeps-up"])
    time: Duration = Field(
        description="Longest time for which the CPU limits of the running pods are together below what the traffic "
        "needs.",
        examples=["10m"],
    )


class NeverRuns(_OfWork):
    """No pod of a work ever runs, though all were admitted; by default for any reason."""

    expect: Literal["never-runs"] = Field(description="Kind of expectation.", examples=["never-runs"])
    because: str = Field(
        "",
        description="Text that scheduler or autoscaler must have said of each pod. Default: any.",
        examples=["Insufficient nvidia.com/gpu"],
    )


class Refused(_OfWork):
    """Admission refuses every unit of a work."""

    expect: Literal["refused"] = Field(description="Kind of expectation.", examples=["refused"])
    because: str = Field("", description="Text that the refusal must contain. Default: any.", examples=["HG-01"])


class MinimumAgain(ContractModel):
    """At one moment, the elastic groups of a place have only the nodes of their current minimum and of headroom."""

    expect: Literal["minimum-again"] = Field(description="Kind of expectation.", examples=["minimum-again"])
    place: Place = Field(default_factory=Place, description="Which groups. Default: all.", examples=[{"role": "gpu"}])
    at: Moment | None = Field(
        None,
        description="When, counted from the start of the scenario; outside of office hours the minimum is that of the "
        "night. Default: the end of the scenario.",
        examples=["90m"],
    )


class CoreServicesUnmoved(ContractModel):
    """Pods of core services that were running at the start still run on the same nodes at the end."""

    expect: Literal["core-services-unmoved"] = Field(
        description="Kind of expectation.", examples=["core-services-unmoved"]
    )


class AtMost(ContractModel):
    """Node-hours, money or nodes of a place stay within a bound."""

    expect: Literal["at-most"] = Field(description="Kind of expectation.", examples=["at-most"])
    place: Place = Field(default_factory=Place, description="Which nodes. Default: all.", examples=[{"role": "gpu"}])
    node_hours: _Amount | None = Field(
        None, description="Most hours of all these nodes together. Default: any.", examples=[12.5]
    )
    usd: _Amount | None = Field(
        None,
        description="Highest price of these hours in US dollars; without a place, the control plane's fee counts too. "
        "Default: any.",
        examples=[40],
    )
    nodes: int | None = Field(
        None, ge=0, le=10_000, strict=True, description="Most nodes at any one time. Default: any.", examples=[4]
    )

    @model_validator(mode="after")
    def _has_a_bound(self) -> Self:
        findings = Findings()
        if self.node_hours is None and self.usd is None and self.nodes is None:
            findings.add("needs at least one of nodeHours, usd and nodes")
        findings.raise_if_any()
        return self


Expectation = Annotated[
    LandsOn
    | NeverOn
    | WaitsAtMost
    | Completes
    | Survives
    | Restarted
    | KeepsUp
    | NeverRuns
    | Refused
    | MinimumAgain
    | CoreServicesUnmoved
    | AtMost,
    Field(discriminator="expect"),
]
