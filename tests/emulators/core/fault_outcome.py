"""What becomes of the work that a request begins."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from emulators.core.faults import FailedRule, Rule, StuckRule


@dataclass(frozen=True)
class HealthIssue:
    """Why work failed.

    Parameters
    ----------
    code
        Such as ``AsgInstanceLaunchFailures``, as ``eks:Issue.code`` lists them.
    message
        What the cloud says, such as ``Could not launch Spot Instances. InsufficientInstanceCapacity - ...``.
    """

    code: str
    message: str


@dataclass(frozen=True)
class FaultOutcome:
    """What a fault rule wants of the work that a request begins; the answer to the request itself is as usual.

    Parameters
    ----------
    is_stuck
        The work never ends: the state stays the one of work under way.
    issues
        The work fails for these reasons. Empty: it succeeds.
    """

    is_stuck: bool = False
    issues: tuple[HealthIssue, ...] = ()


AS_USUAL: Final = FaultOutcome()


def outcome(rules: Iterable[Rule]) -> FaultOutcome:
    """Return what the rules that meet a call want of it."""
    met = list(rules)
    issues = [issue for rule in met if isinstance(rule, FailedRule) for issue in rule.issues]
    return FaultOutcome(
        is_stuck=any(isinstance(rule, StuckRule) for rule in met),
        issues=tuple(HealthIssue(issue.code, issue.message) for issue in issues),
    )
