"""The outcome of one scenario on one stack: the record, its verdicts, and what it costs."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.rehearsal.record import Record
from workbench.rehearsal.verdicts.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Node-hours and money of some nodes."""

    node_hours: float
    """Hours of all nodes together."""
    usd: float
    """US dollars of all nodes with a known price."""
    unpriced: tuple[str, ...] = ()
    """Machine types without a known price, which ``usd`` leaves out."""

    @property
    def is_priced(self) -> bool:
        """Whether the price of any of the nodes is known."""
        return self.usd > 0 or not self.unpriced


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What a scenario costs: its nodes, and the control plane."""

    total: Cost
    """Of all nodes, with the fee for the control plane."""
    control_plane: float = 0.0
    """US dollars of that fee for the length of the scenario; sums of pools, lifecycles and teams leave it out."""
    by_pool: dict[str, Cost]
    by_lifecycle: dict[str, Cost]
    """By ``on-demand`` and ``spot``."""
    by_team: dict[str, Cost]
    """By team, of what its pods request; the empty name is what no pod requested or no team owns. A pod's share of a
    node is the larger of its shares of CPU and memory, or that of GPUs on GPU nodes."""
    prices: str = ""
    """Where the prices are from and of which date, as one sentence; empty without prices."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of one scenario on one stack.

    Parameters
    ----------
    stack, scenario, description
        Names, and the scenario's own line.
    skipped
        Why the scenario does not apply to the stack; else empty. Then there is no record.
    lost
        How the control plane failed, or why it refuses the stack, so that the scenario has no verdict; else empty. Then
        there is no record. Lines after the first show the end of its log, or say what to do.
    is_refused
        Whether it is lost because the stack is refused: a mistake in the stack file.
    is_reference
        Whether another outcome is compared with it, so that its verdicts decide nothing.
    record
        What happened.
    verdicts
        One for each expectation, in their order.
    costs
        What the nodes and the control plane cost.
    notes
        Limits of the rehearsal that the reader must know, as sentences.
    stack_digest
        Digest of the stack's settings; a passport compares it with its own.
    """

    stack: str
    scenario: str
    description: str
    skipped: str = ""
    lost: str = ""
    is_refused: bool = False
    is_reference: bool = False
    record: Record | None = None
    verdicts: tuple[Verdict, ...] = ()
    costs: Costs | None = None
    notes: tuple[str, ...] = ()
    stack_digest: str = ""

    @property
    def missed(self) -> int:
        """How many expectations are missed."""
        return sum(not verdict.is_met for verdict in self.verdicts)

    @property
    def is_met(self) -> bool:
        """Whether every expectation is met; a skipped scenario misses none, a lost one meets none."""
        return not self.missed and not self.lost


def deciding(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Return the outcomes that decide whether all is met: all but references, unless these are lost."""
    return tuple(outcome for outcome in outcomes if outcome.lost or not outcome.is_reference)
