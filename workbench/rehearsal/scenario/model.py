"""Model of a scenario file."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, ValidationInfo, field_validator, model_validator

from components.contract.choices import ContractModel, Findings
from components.contract.lifecycle import Lifecycle
from components.contract.pools import PoolRole
from workbench.rehearsal.scenario.arrivals import ARRIVALS_MAX, Arrival
from workbench.rehearsal.scenario.durations import LONGEST, Duration, duration_text
from workbench.rehearsal.scenario.events import Event, OfficeHoursEnd
from workbench.rehearsal.scenario.expectations import Expectation, KeepsUp, MinimumAgain, Restarted, WaitsAtMost
from workbench.rehearsal.scenario.references import reference_problems
from workbench.rehearsal.scenario.work import Work, WorkName
from workbench.rehearsal.settings import SPEED

SPEED_MIN: Final = 5
SPEED_MAX: Final = 600
"""Bounds of a scenario's speed: above it, control loops of seconds are slower than the events that they handle."""

WORKS_MAX: Final = 200
DESCRIPTION_MAX: Final = 100


def _few(works: dict[str, Work]) -> dict[str, Work]:
    if len(works) > WORKS_MAX:
        raise ValueError(f"has {len(works)} entries, at most {WORKS_MAX} are allowed")
    return works


class Needs(ContractModel):
    """What a stack must have for the scenario to mean something; other stacks skip it."""

    roles: tuple[PoolRole, ...] = Field(
        (), description="Roles of which the stack must have a pool. Default: none.", examples=[["gpu"]]
    )
    lifecycles: tuple[Lifecycle, ...] = Field(
        (), description="Lifecycles of which the stack must have a pool. Default: none.", examples=[["spot"]]
    )
    zonal: tuple[PoolRole, ...] = Field(
        (),
        description="Roles of which the stack must have a pool with a group in each of several zones. Default: none.",
        examples=[["jupyter"]],
    )
    elastic: tuple[PoolRole, ...] = Field(
        (),
        description="Roles of which the stack must have a pool whose size the autoscaler changes. Default: none.",
        examples=[["workload"]],
    )
    headroom: tuple[PoolRole, ...] = Field(
        (),
        description="Roles of which the stack must have a pool with headroom. Default: none.",
        examples=[["workload"]],
    )
    sharing: bool = Field(
        False,  # noqa: FBT003 it is the default of the key
        strict=True,
        description="Whether the stack must have a pool whose GPUs are shared. Default: false.",
        examples=[True],
    )


class Scenario(ContractModel):
    """What happens on a cluster, and what is expected of it."""

    description: str = Field(
        min_length=1,
        max_length=DESCRIPTION_MAX,
        description="One line for lists and reports.",
        examples=["GPU jobs at night"],
    )
    lasts: Duration = Field(description="Length of the scenario, in its own time.", examples=["1h"])
    speed: int = Field(
        int(SPEED),
        ge=SPEED_MIN,
        le=SPEED_MAX,
        strict=True,
        description="Seconds of the scenario in a second of real time. Default: 60.",
        examples=[120],
    )
    needs: Needs = Field(
        default_factory=Needs,
        description="What a stack must have for the scenario; other stacks skip it. Default: all stacks play it.",
        examples=[{"roles": ["gpu"]}],
    )
    works: Annotated[dict[WorkName, Work], AfterValidator(_few)] = Field(
        min_length=1,
        description="Works by name: kind and size of their pods.",
        examples=[{"train": {"kind": "mlrun-job"}}],
    )
    arrivals: tuple[Arrival, ...] = Field(
        min_length=1, description="When work arrives.", examples=[[{"work": "train", "at": "5m"}]]
    )
    events: tuple[Event, ...] = Field(
        (),
        description="What happens to the cluster. Default: nothing.",
        examples=[[{"event": "node-failure", "at": "10m", "place": {"role": "workload"}}]],
    )
    expectations: tuple[Expectation, ...] = Field(
        min_length=1,
        description="What is expected; each is judged as met or missed.",
        examples=[[{"expect": "completes", "work": "train"}]],
    )

    @field_validator("arrivals", mode="after")
    @classmethod
    def _arrive_in_time(cls, arrivals: tuple[Arrival, ...], info: ValidationInfo) -> tuple[Arrival, ...]:
        lasts, findings = info.data.get("lasts", LONGEST + 1), Findings()
        for index, arrival in enumerate(arrivals):
            for key, message, given in _late(arrival, lasts):
                findings.add(message, index, key, given=duration_text(given))
        if (units := sum(arrival.count for arrival in arrivals)) > ARRIVALS_MAX:
            findings.add(f"has {units} units together, at most {ARRIVALS_MAX} are allowed; lower count")
        findings.raise_if_any()
        return arrivals

    @field_validator("events", mode="after")
    @classmethod
    def _happen_in_time(cls, events: tuple[Event, ...], info: ValidationInfo) -> tuple[Event, ...]:
        lasts, findings = info.data.get("lasts", LONGEST + 1), Findings()
        for index, event in enumerate(events):
            if event.at >= lasts:
                findings.add(_AFTER_THE_END.format(duration_text(lasts)), index, "at", given=duration_text(event.at))
        nights = sorted(
            (each.at, each.at + each.lasts, n) for n, each in enumerate(events) if isinstance(each, OfficeHoursEnd)
        )
        for (_, ends, _), (begins, _, index) in pairwise(nights):
            if begins <= ends:
                message = f"must be later than {duration_text(ends)}, when the night before ends"
                findings.add(message, index, "at", given=duration_text(begins))
        findings.raise_if_any()
        return events

    @field_validator("expectations", mode="after")
    @classmethod
    def _can_be_missed(cls, expectations: tuple[Expectation, ...], info: ValidationInfo) -> tuple[Expectation, ...]:
        lasts, findings = info.data.get("lasts", LONGEST + 1), Findings()
        first: dict[str, int] = {}
        for arrival in info.data.get("arrivals", ()):
            first[arrival.work] = min(arrival.at, first.get(arrival.work, LONGEST))
        for index, each in enumerate(expectations):
            if isinstance(each, MinimumAgain) and each.at is not None and each.at >= lasts:
                findings.add(_AFTER_THE_END.format(duration_text(lasts)), index, "at", given=duration_text(each.at))
            if isinstance(each, WaitsAtMost | Restarted | KeepsUp) and each.time >= (
                left := lasts - first.get(each.work, 0)
            ):
                message = (
                    f"must be shorter than {duration_text(left)}, the time from the first arrival of {each.work} to "
                    "the end of the scenario: no pod could miss it"
                )
                findings.add(message, index, "time", given=duration_text(each.time))
        findings.raise_if_any()
        return expectations

    @model_validator(mode="wrap")
    @classmethod
    def _refers_to_its_works(cls, document: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Check names of works even if another part is invalid: that is why it wraps the validation."""
        findings = Findings()
        with findings.collect():
            scenario = handler(document)
        if isinstance(document, Mapping):
            for problem in reference_problems(document):
                findings.add(problem.message, *problem.path, given=problem.given, allowed=problem.allowed)
        findings.raise_if_any()
        return scenario


_AFTER_THE_END: Final = "must be before the end of the scenario, which lasts {}"


def _late(arrival: Arrival, lasts: int) -> Iterator[tuple[str, str, int]]:
    """Return what happens after the end: the key, the problem and the value of the key."""
    whole = duration_text(lasts)
    if arrival.at >= lasts:
        yield "at", _AFTER_THE_END.format(whole), arrival.at
    elif arrival.every and arrival.last >= lasts:
        count, last = arrival.count, duration_text(arrival.last)
        yield (
            "every",
            f"the last of {count} units would arrive at {last}, but the scenario lasts {whole}",
            arrival.every,
        )
    if arrival.stays and arrival.at < lasts < arrival.at + arrival.stays:
        gone = duration_text(arrival.at + arrival.stays)
        message = f"the first unit would be deleted at {gone}, but the scenario lasts {whole}; shorten it or remove it"
        yield "stays", message, arrival.stays
