"""Shape of a report as JSON, from which ``docs/rehearsal-report.schema.json`` is generated.

Keys are camelCase, except names that the report is about: pools, teams, works, labels, and pod specs. Moments and spans
are seconds of the scenario. Fields may be added; removing or redefining one raises ``schemaVersion``.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AliasGenerator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Moment = Annotated[float, Field(description="Seconds of the scenario since its start; negative before it.")]
Maybe = Annotated[float | None, Field(description="As a moment; null if it did not happen before the end.")]


class _Shape(BaseModel):
    model_config = ConfigDict(
        from_attributes=True,
        alias_generator=AliasGenerator(serialization_alias=to_camel),
        allow_inf_nan=False,
        json_schema_serialization_defaults_required=True,
    )


class ReasonShape(_Shape):
    """Why a pod waited, in the words of a component."""

    at: Moment
    component: str = Field(description="scheduler or autoscaler.")
    text: str


class PodShape(_Shape):
    """A pod."""

    name: str
    namespace: str
    uid: str
    work: str = Field(description="Work of the scenario; empty for what the cluster itself runs.")
    unit: str = Field(description="Arrival that the pod belongs to.")
    team: str
    kind: str = Field(description="Kind of the work, or daemon-set or core-service.")
    created: Moment
    scheduled: Maybe
    started: Maybe
    ended: Maybe
    end: Literal["runs", "waits", "succeeded", "failed", "deleted", "lost", "preempted"] = Field(
        description="How it ended; runs and waits: not before the end of the scenario."
    )
    end_cause: str = Field(description="What took a lost or preempted pod away.")
    node: str | None
    replaces: str | None = Field(description="UID of the lost pod that it replaces.")
    reasons: tuple[ReasonShape, ...] = Field(description="Why it waited, first to last.")
    cpu_millis: int = Field(description="Requested CPU in thousandths.")
    memory_mib: int = Field(description="Requested memory in MiB.")
    gpus: int
    spec: Mapping[str, Any] = Field(description="Its spec after admission, as Kubernetes spells it.")


class NodeShape(_Shape):
    """A node."""

    name: str
    group: str
    pool: str
    role: str
    lifecycle: str = Field(description="on-demand or spot.")
    zone: str | None
    instance_type: str
    created: Moment
    ready: Maybe
    gone: Maybe
    gone_cause: str = Field(description="autoscaler, or the event that took the node.")
    cpu_millis: int = Field(description="Allocatable CPU in thousandths.")
    memory_mib: int = Field(description="Allocatable memory in MiB.")
    gpus: int


class GroupShape(_Shape):
    """A node group of the stack."""

    name: str
    pool: str
    role: str
    lifecycle: str
    zone: str | None
    instance_type: str
    min: int
    max: int
    is_elastic: bool
    labels: Mapping[str, str]
    taints: tuple[str, ...] = Field(description="As key=value:Effect.")
    gpu_resource: str | None
    cpu_millis: int
    memory_mib: int
    gpus: int


class RefusalShape(_Shape):
    """An object that the API server refused."""

    at: Moment
    work: str
    unit: str
    kind: str
    name: str
    message: str


class HappeningShape(_Shape):
    """An event of the scenario."""

    at: Moment
    event: str = Field(description="Kind of event, such as spot-reclaim.")
    text: str
    nodes: tuple[str, ...]


class RecordShape(_Shape):
    """What the API server reported."""

    lasts: float = Field(description="Length of the scenario in seconds.")
    speed: float = Field(description="Seconds of the scenario in a second of real time.")
    groups: tuple[GroupShape, ...]
    pods: tuple[PodShape, ...]
    nodes: tuple[NodeShape, ...]
    refusals: tuple[RefusalShape, ...]
    happenings: tuple[HappeningShape, ...]
    units: Mapping[str, tuple[str, ...]] = Field(description="Units that arrived, by work.")
    assumptions: tuple[str, ...] = Field(description="What the simulation assumes.")


class HintShape(_Shape):
    """What to change."""

    cause: str
    action: str
    path: str = Field(description="Field of the file, such as pools.gpu.size.max; may be empty.")
    file: str = Field(description="stack or scenario.")


class VerdictShape(_Shape):
    """The judgement of an expectation."""

    number: int = Field(description="Position of the expectation in the scenario, from 0.")
    expectation: str
    is_met: bool
    measured: str
    pods: tuple[str, ...] = Field(description="First pods that miss it.")
    reason: str = Field(description="Words of scheduler, autoscaler or API server that explain the miss.")
    hints: tuple[HintShape, ...] = Field(description="Most likely first.")
    may_vary: str = Field(description="What timing may change between two runs.")


class CostShape(_Shape):
    """Node-hours and money."""

    node_hours: float
    usd: float | None = Field(description="US dollars; null if a price is not known.")
    unpriced: tuple[str, ...] = Field(description="Machine types without a known price.")


class CostsShape(_Shape):
    """What the nodes cost."""

    total: CostShape
    by_pool: dict[str, CostShape]
    by_lifecycle: dict[str, CostShape]
    by_team: dict[str, CostShape] = Field(description="The empty name is what no team owns.")
    prices: str = Field(description="Source and date of the prices.")


class PoolShape(_Shape):
    """Figures of a pool."""

    pool: str
    role: str
    machines: tuple[str, ...]
    lifecycles: tuple[str, ...]
    least: int = Field(description="Smallest size of the pool.")
    most: int = Field(description="Largest size of the pool.")
    peak: int = Field(description="Most nodes at any one time.")
    cost: CostShape | None


class WorkShape(_Shape):
    """Waits and losses of a work, in seconds and pods."""

    work: str
    kind: str
    team: str
    pods: int
    waiting: int = Field(description="Pods that never ran.")
    lost: int
    median: float
    p95: float
    longest: float


class OutcomeShape(_Shape):
    """A scenario on a stack."""

    stack: str
    scenario: str
    description: str
    skipped: str = Field(description="Why the scenario does not apply; empty if it was played.")
    is_met: bool
    verdicts: tuple[VerdictShape, ...]
    costs: CostsShape | None
    pools: tuple[PoolShape, ...] = Field(description="Figures derived from the record.")
    works: tuple[WorkShape, ...] = Field(description="Figures derived from the record.")
    notes: tuple[str, ...] = Field(description="Limits of the rehearsal.")
    record: RecordShape | None = Field(description="Null if it was skipped.")


class RowShape(_Shape):
    """A figure of two outcomes."""

    about: Literal["expectation", "wait", "pods", "nodes", "node-hours", "usd"]
    name: str
    before: str
    after: str
    change: str = Field(description="Empty if nothing changes.")
    is_better: bool | None


class ComparisonShape(_Shape):
    """Two outcomes of a scenario, side by side."""

    scenario: str
    before: str = Field(description="Name of a stack or revision.")
    after: str
    summary: str
    rows: tuple[RowShape, ...]


class AdvisedShape(_Shape):
    """An expectation, as it is and with the edits."""

    expectation: str
    before: bool = Field(description="Whether it is met as the stack is.")
    after: bool = Field(description="Whether it is met with the edits.")
    measured: str = Field(description="With the edits.")


class AdviceShape(_Shape):
    """The smallest change that was found for a scenario on a stack."""

    stack: str
    scenario: str
    summary: str
    edits: tuple[str, ...] = Field(description="Keys and new values; empty if nothing helps.")
    is_met: bool = Field(description="Whether every expectation is met with the edits.")
    expectations: tuple[AdvisedShape, ...]
    usd: float | None = Field(description="What the scenario costs more with the edits; below 0: less.")
    rehearsals: int
    budget: int
    patch: str = Field(description="Unified diff; may be empty.")
    unpatched: str = Field(description="Why there is no patch; empty if there is one.")
    refused: tuple[str, ...] = Field(description="Changes that the stack file's own checks refuse.")


class ReportShape(_Shape):
    """Report of a rehearsal by igz-clusters."""

    schema_version: Literal[1]
    headline: str = Field(description="The verdict in words.")
    is_met: bool = Field(description="Whether every expectation is met.")
    outcomes: tuple[OutcomeShape, ...]
    comparisons: tuple[ComparisonShape, ...]
    advice: tuple[AdviceShape, ...]
