"""Shape of a report as JSON, from which ``docs/rehearsal-report.schema.json`` is generated.

The classes here are what only a report has. Records, verdicts, costs and figures are published as they are: their
fields are the keys, and the docstrings of the fields their descriptions. Keys are camelCase, except names that the
report is about: pools, teams, works, labels, and pod specs. Moments and spans are seconds of the scenario. Fields may
be added; removing or redefining one raises ``schemaVersion``.
"""

from typing import Literal

from pydantic import AliasGenerator, AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from workbench.rehearsal.outcome import Costs
from workbench.rehearsal.record import Record
from workbench.rehearsal.report.comparison import About, Row
from workbench.rehearsal.report.figures import PoolFigures, WorkFigures
from workbench.rehearsal.verdicts.verdict import Verdict


class _Shape(BaseModel):
    model_config = ConfigDict(
        from_attributes=True,
        alias_generator=AliasGenerator(serialization_alias=to_camel),
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        revalidate_instances="always",  # else a value of another type is written with a warning
        defer_build=True,  # the docstrings are read for the first report, not by each command
    )


class OutcomeShape(_Shape):
    """A scenario on a stack."""

    stack: str
    scenario: str
    description: str
    skipped: str = Field(description="Why the scenario does not apply; else empty.")
    lost: str = Field(
        description="Why there is no verdict: the control plane failed, or it refuses the stack; else empty."
    )
    is_refused: bool = Field(description="Whether it refuses the stack; then no further scenario is played on it.")
    is_reference: bool = Field(description="Whether another outcome is compared with it, so that it decides nothing.")
    is_met: bool = Field(description="Whether every expectation is met; false without a verdict, true if skipped.")
    verdicts: tuple[Verdict, ...]
    costs: Costs | None
    pools: tuple[PoolFigures, ...] = Field(description="Figures derived from the record.")
    works: tuple[WorkFigures, ...] = Field(description="Figures derived from the record.")
    notes: tuple[str, ...] = Field(description="Limits of the rehearsal.")
    stack_digest: str = Field(description="SHA-256 of the stack's settings with all defaults, in hexadecimal.")
    record: Record | None = Field(description="Null if it was skipped or lost.")


class ComparisonShape(_Shape):
    """Two outcomes of a scenario, side by side."""

    scenario: str
    before: str = Field(description="Name of a stack or revision.")
    after: str
    summary: str
    rows: tuple[Row, ...]


class DuelCellShape(_Shape):
    """A figure under another scaler, next to the one under Cluster Autoscaler."""

    text: str
    change: str = Field(description="The difference from Cluster Autoscaler's; empty without one.")
    is_better: bool | None = Field(description="Null if that cannot be said, or if two runs may differ as much.")


class DuelRowShape(_Shape):
    """A figure of a scenario under each scaler."""

    about: About
    name: str
    first: str = Field(description="Under Cluster Autoscaler.")
    others: tuple[DuelCellShape, ...] = Field(description="Under the other scalers, in their order.")


class DuelShape(_Shape):
    """A scenario under Cluster Autoscaler and under Karpenter."""

    stack: str
    scenario: str
    scalers: tuple[str, ...] = Field(description="Names of the columns; the first is Cluster Autoscaler.")
    rows: tuple[DuelRowShape, ...]
    facts: tuple[str, ...] = Field(description="What a reader must know, as sentences.")


class AdvisedShape(_Shape):
    """An expectation, as it is and with the edits."""

    expectation: str
    before: bool = Field(description="Whether it is met as the stack is.")
    after: bool = Field(description="Whether it is met with the edits.")
    measured: str = Field(description="With the edits.")


class AdviceShape(_Shape):
    """The first change that meets every expectation, made as small as possible; if there is none, the best found."""

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
    unpatched: str = Field(description="Edits that the patch leaves out, why, and how to make them; may be empty.")
    refused: tuple[str, ...] = Field(description="Changes that the stack file's own checks refuse.")
    ended: str = Field(description="How a control plane failed and so ended the search early; empty if none did.")


class ReportShape(_Shape):
    """Report of a rehearsal by igz-clusters."""

    schema_version: Literal[1]
    release: str = Field(description="Version of igz-clusters.")
    made: AwareDatetime = Field(description="When it was written.")
    headline: str = Field(description="The verdict in words, without references.")
    is_met: bool = Field(description="Whether every outcome is met; references must only have a verdict.")
    outcomes: tuple[OutcomeShape, ...]
    comparisons: tuple[ComparisonShape, ...]
    duels: tuple[DuelShape, ...]
    advice: tuple[AdviceShape, ...]
