"""The judgement of one expectation."""

from dataclasses import dataclass
from typing import Final

from pydantic import computed_field

STACK: Final = "stack"
SCENARIO: Final = "scenario"
_OF_SCENARIOS: Final = ("works", "arrivals", "events", "expectations", "lasts")
"""Sections that only scenario files have."""


def file_of(section: str) -> str:
    """Return ``stack`` or ``scenario``: which file has the section."""
    return SCENARIO if section in _OF_SCENARIOS else STACK


@dataclass(frozen=True, kw_only=True)
class Hint:
    """What to change, if the record shows it."""

    cause: str
    """What is wrong, as one sentence."""
    action: str
    """What to do, as one sentence."""
    path: str = ""
    """Field of the stack file, such as ``pools.gpu.size.max``, or of the scenario, such as ``works.train.gpus``; may be
    empty."""

    @computed_field  # type: ignore[prop-decorator] # https://github.com/python/mypy/issues/1362
    @property
    def file(self) -> str:
        """``stack`` or ``scenario``: which file has the field."""
        return file_of(self.path.partition(".")[0])


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement of one expectation."""

    number: int
    """Position of the expectation in the scenario, from 0."""
    expectation: str
    """The expectation in words, such as ``train waits at most 5m``."""
    is_met: bool
    measured: str
    """What the record shows, such as ``12 of 12 pods, longest wait 3m``."""
    pods: tuple[str, ...] = ()
    """Names of the first pods that miss it; empty if it is met."""
    reason: str = ""
    """Words of scheduler, autoscaler or API server that explain the miss; empty if there are none."""
    hints: tuple[Hint, ...] = ()
    """Causes and actions, most likely first."""
    may_vary: str = ""
    """What timing may change between two runs, as a sentence; empty if the record shows no such thing."""
