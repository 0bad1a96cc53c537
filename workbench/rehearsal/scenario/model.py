"""Model of a scenario file."""

from pydantic import Field

from components.contract.choices import ContractModel
from components.contract.lifecycle import Lifecycle
from components.contract.pools import PoolRole
from workbench.rehearsal.scenario.arrivals import Arrival
from workbench.rehearsal.scenario.durations import Duration
from workbench.rehearsal.scenario.events import Event
from workbench.rehearsal.scenario.expectations import Expectation
from workbench.rehearsal.scenario.work import Work


class Needs(ContractModel):
    """What a stack must have for the scenario to mean something; other stacks skip it."""

    roles: tuple[PoolRole, ...] = Field((), description="Roles of which it has a pool.", examples=[["gpu"]])
    lifecycles: tuple[Lifecycle, ...] = Field((), description="Lifecycles of which it has a pool.", examples=[["spot"]])


class Scenario(ContractModel):
    """What happens on a cluster, and what is expected of it."""

    description: str = Field(min_length=1, description="One line for lists and reports.", examples=["GPU jobs at night"])
    lasts: Duration = Field(description="Length of the scenario.", examples=["1h"])
    needs: Needs = Field(default_factory=Needs, description="Stacks that it applies to. Default: all.", examples=[{"roles": ["gpu"]}])
    works: dict[str, Work] = Field(min_length=1, description="Work by name.", examples=[{"train": {"kind": "mlrun-job"}}])
    arrivals: tuple[Arrival, ...] = Field(min_length=1, description="When work arrives.", examples=[[{"work": "train"}]])
    events: tuple[Event, ...] = Field((), description="What happens to the cluster.", examples=[[]])
    expectations: tuple[Expectation, ...] = Field(
        min_length=1, description="What is expected.", examples=[[{"expect": "completes", "work": "train"}]]
    )
