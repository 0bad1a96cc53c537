"""Matches approvals with dangerous changes, and writes the approval that a change needs."""

from collections.abc import Iterable
from datetime import date

import yaml

from policies.waivers import Approval
from workbench.report.model import Change, Danger


def approval_of(change: Change, stack: str, rows: Iterable[Approval]) -> str:
    """Return a description of the approval of a change; empty if there is none."""
    held = (row for row in _matching(change, stack, rows) if not row.has_expired)
    return next((f"{row.label} until {row.expires}: {row.reason}" for row in held), "")


def expired_approval_of(change: Change, stack: str, rows: Iterable[Approval]) -> str:
    """Return a description of an expired approval of a change; empty if there is none."""
    gone = (row for row in _matching(change, stack, rows) if row.has_expired)
    return next((f"{row.label} expired on {row.expires}" for row in gone), "")


def _matching(change: Change, stack: str, rows: Iterable[Approval]) -> Iterable[Approval]:
    return (row for row in rows if row.allows(stack, change.operation, change.type, change.name))


def rows_for(dangers: Iterable[Danger], stack: str, expires: date | str | None = None) -> str:
    """Return YAML rows that would approve ``dangers``, with placeholders in capitals.

    Parameters
    ----------
    dangers
        Changes without an approval.
    stack
        Name of the stack.
    expires
        Last day of the approval. Default: the latest that is allowed today.
    """
    rows = [
        {
            "stack": stack,
            "resource": f"{danger.change.type}::{danger.change.name}",
            "operation": danger.change.operation.value,
            "reason": "WHY IT MAY BE LOST",
            "owner": "TEAM",
            "ticket": "TICKET",
            "expires": expires or Approval.last_day(),
        }
        for danger in dangers
    ]
    return yaml.safe_dump({"approvals": rows}, sort_keys=False, width=float("inf")).rstrip()
