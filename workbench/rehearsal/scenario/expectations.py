"""What a scenario expects; each kind is judged in ``workbench/rehearsal/verdicts``."""

from typing import Annotated, Literal

from pydantic import Field

from components.contract.choices import ContractModel
from workbench.rehearsal.scenario.durations import Duration
from workbench.rehearsal.scenario.places import Place

_Percent = Annotated[float, Field(gt=0, le=100)]


class _OfWork(ContractModel):
    work: str = Field(description="Name under works.", examples=["train"])


class LandsOn(_OfWork):
    """Every pod of a work that was placed runs in a place; one that was never placed misses it too."""

    expect: Literal["lands-on"] = Field(description="Kind of expectation.")
    place: Place = Field(description="Where.", examples=[{"role": "gpu"}])


class NeverOn(_OfWork):
    """No pod of a work ever runs in a place."""

    expect: Literal["never-on"] = Field(description="Kind of expectation.")
    place: Place = Field(description="Where not.", examples=[{"lifecycle": "spot"}])


class WaitsAtMost(_OfWork):
    """Pods run within a time after their creation; pods that still wait at the end count with what they waited."""

    expect: Literal["waits-at-most"] = Field(description="Kind of expectation.")
    time: Duration = Field(description="Longest wait.", examples=["5m"])
    percent: _Percent = Field(100, description="Share of the pods that must meet it.", examples=[95])


class Completes(_OfWork):
    """Units end successfully before the scenario ends."""

    expect: Literal["completes"] = Field(description="Kind of expectation.")
    percent: _Percent = Field(100, description="Share of the units.", examples=[95])


class Survives(_OfWork):
    """No pod of a work is lost to an event, a preemption or the removal of its node."""

    expect: Literal["survives"] = Field(description="Kind of expectation.")


class Restarted(_OfWork):
    """Whenever a pod of a work is lost, as many as before run again in time. A scenario without a loss misses it."""

    expect: Literal["restarted"] = Field(description="Kind of expectation.")
    time: Duration = Field(description="Longest time between loss and the replacement's start.", examples=["5m"])


class Refused(_OfWork):
    """Admission refuses every unit of a work."""

    expect: Literal["refused"] = Field(description="Kind of expectation.")
    because: str = Field("", description="Text that the refusal must contain. Default: any.", examples=["HG-01"])


class MinimumAgain(ContractModel):
    """At the end the elastic groups of a place have only the nodes of their minimum."""

    expect: Literal["minimum-again"] = Field(description="Kind of expectation.")
    place: Place = Field(default_factory=Place, description="Which groups. Default: all.", examples=[{"role": "gpu"}])


class CoreServicesUnmoved(ContractModel):
    """Pods of core services that were running at the start still run on the same nodes at the end."""

    expect: Literal["core-services-unmoved"] = Field(description="Kind of expectation.")


class AtMost(ContractModel):
    """Node-hours, money or nodes of a place stay within a bound."""

    expect: Literal["at-most"] = Field(description="Kind of expectation.")
    place: Place = Field(default_factory=Place, description="Which nodes. Default: all.", examples=[{"role": "gpu"}])
    node_hours: float | None = Field(None, ge=0, description="Hours of all nodes together.", examples=[12.5])
    usd: float | None = Field(None, ge=0, description="Price of these hours in US dollars.", examples=[40])
    nodes: int | None = Field(None, ge=0, strict=True, description="Nodes at any one time.", examples=[4])


Expectation = Annotated[
    LandsOn
    | NeverOn
    | WaitsAtMost
    | Completes
    | Survives
    | Restarted
    | Refused
    | MinimumAgain
    | CoreServicesUnmoved
    | AtMost,
    Field(discriminator="expect"),
]
