"""Rehearses scenarios on stacks: one cluster for each, several at once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Protocol, TypeAlias

from infra.config import StackConfig
from workbench.local.programs import Binaries
from workbench.prices.book import PriceBook
from workbench.prices.stack_cost import stack_cost
from workbench.rehearsal.cluster.scaling import autoscaling
from workbench.rehearsal.cluster.simulated import ApiError, LostError
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.duel.karpenter import karpenter
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.play.player import Progress, play
from workbench.rehearsal.prices import Prices
from workbench.rehearsal.scenario.files import skipped_because
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace, Scaler
from workbench.rehearsal.verdicts.costs import costs_of
from workbench.rehearsal.verdicts.judge import judge
from workbench.stacks import Stack
from workbench.system.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Task:
    """One scenario on one stack.

    Parameters
    ----------
    stack
        The stack; only its file matters.
    name
        Name of the scenario.
    scenario
        The scenario.
    pace
        How its time passes.
    """

    stack: Stack
    name: str
    scenario: Scenario
    pace: Pace
    file: Path | None = None
    """File of the scenario, if it is the user's own."""
    how_to_edit: str = ""
    """How the user gets such a file otherwise, as a part of a sentence."""
    is_reference: bool = False
    """Whether another one is compared with it, so that its verdicts decide nothing."""
    scaler: Scaler = Scaler.CLUSTER_AUTOSCALER
    """What adds nodes and removes them."""
    label: str = ""
    """What reports call the stack. Default: its name."""

    @property
    def shown_as(self) -> str:
        """What reports call the stack."""
        return self.label or self.stack.name

    @property
    def title(self) -> str:
        """Stack and scenario, for progress and messages."""
        return f"{self.shown_as} {self.name}"

    @property
    def unplayed(self) -> Outcome:
        """Its outcome before it is played."""
        return Outcome(
            stack=self.shown_as,
            scenario=self.name,
            description=self.scenario.description,
            is_reference=self.is_reference,
            stack_digest=self.stack.digest,
        )


class Watcher(Protocol):
    """Receives what happens; called from several threads."""

    def step(self, task: Task, text: str) -> None:
        """Receive what a task does now."""

    def progress(self, task: Task, progress: Progress) -> None:
        """Receive how far the scenario is."""

    def finished(self, task: Task, outcome: Outcome) -> None:
        """Receive the outcome of a task."""


@dataclass(frozen=True, kw_only=True)
class Rehearser:
    """Rehearses one task at a time.

    Parameters
    ----------
    binaries
        Programs of the control plane.
    book
        Prices of machines.
    watcher
        Receives progress.
    stopped
        Ends all tasks when it is set.
    """

    binaries: Binaries
    book: PriceBook
    watcher: Watcher
    stopped: Event = field(default_factory=Event)

    def rehearse(self, task: Task) -> Outcome:
        """Play the scenario on a new cluster, and judge what happened.

        Raises
        ------
        LostError
            The control plane did not start or failed, or refused a request of the rehearsal itself.
        UserError
            The stack is refused, whatever the scenario.
        KeyboardInterrupt
            ``stopped`` was set.
        """
        config, scenario = task.stack.config, task.scenario
        if skipped := skipped_because(scenario, config):
            return replace(task.unplayed, skipped=skipped)

        def step(text: str) -> None:
            self._go_on()
            self.watcher.step(task, text)

        def progress(made: Progress) -> None:
            self._go_on()
            self.watcher.progress(task, made)

        self._go_on()
        scaling_of = karpenter(task.scaler, self._prices) if task.scaler.is_karpenter else autoscaling
        try:
            with simulated(
                task.stack, task.pace, binaries=self.binaries, progress=step, scaling_of=scaling_of
            ) as cluster:
                record = play(cluster, scenario, progress=progress)
        except ApiError as error:
            raise LostError(
                f"The API server refused a request of the rehearsal itself: {error}\n"
                "Rehearse again; if it comes back, report it as a defect."
            ) from error
        prices = self._prices(config)
        costs = costs_of(record, prices.price_of, fee=prices.fee, prices=prices.note)
        return replace(task.unplayed, record=record, verdicts=judge(scenario, record, config, costs), costs=costs)

    def _prices(self, config: StackConfig) -> Prices:
        return Prices(stack_cost(config, self.book))

    def _go_on(self) -> None:
        """Raise if the tasks should end; progress is reported often enough to end them quickly."""
        if self.stopped.is_set():
            raise KeyboardInterrupt


Played: TypeAlias = tuple[tuple[Task, Outcome], ...]
"""Tasks with their outcomes; without those that were not played because their stack had been refused."""


def rehearse_all(tasks: Sequence[Task], rehearser: Rehearser, *, at_once: int) -> Played:
    """Rehearse all tasks; those whose control plane fails or does not start have outcomes without a verdict.

    A refused stack is refused for every scenario, so no other scenario is played on it.

    Parameters
    ----------
    at_once
        How many clusters run at the same time.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C or a signal; every cluster has been stopped.
    """
    refused: set[str] = set()

    def ended_by(task: Task) -> Outcome | None:
        if task.shown_as in refused:
            return None
        try:
            return rehearser.rehearse(task)
        except LostError as error:
            return replace(task.unplayed, lost=str(error))
        except UserError as error:
            refused.add(task.shown_as)
            return replace(task.unplayed, lost=str(error), is_refused=True)

    with ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="rehearsal") as pool:
        running = {pool.submit(ended_by, task): index for index, task in enumerate(tasks)}
        ended: dict[int, Outcome] = {}
        try:
            for future in as_completed(running):
                if outcome := future.result():
                    ended[running[future]] = outcome
                    rehearser.watcher.finished(tasks[running[future]], outcome)
        except BaseException:
            rehearser.stopped.set()  # the pool waits for its threads
            for future in running:
                future.cancel()
            raise
    return tuple((tasks[index], ended[index]) for index in sorted(ended))
