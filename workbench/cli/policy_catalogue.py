"""Every rule, and everything that no rule can enforce, as rows."""

from collections.abc import Mapping
from dataclasses import dataclass

from infra.config.problems import did_you_mean, shown
from policies.not_enforceable import NOT_ENFORCEABLE
from policies.registry import RULES
from workbench.system.errors import UserError


@dataclass(frozen=True)
class Entry:
    """One rule, or one piece of advice that no rule enforces."""

    id: str
    """Empty for advice without one."""
    demands: str
    level: Mapping[str, str]
    """Its level by environment; empty if nothing enforces it."""
    severity: str
    enforced_at: tuple[str, ...]
    """``preview and update``, ``admission``; empty if nothing enforces it."""
    reason: str
    """Why nothing enforces it."""
    source: str
    why: str
    fix: str


def catalogue() -> list[Entry]:
    """Return all entries, sorted by id, advice without one at the end."""
    rules = [
        Entry(
            id=rule.id,
            demands=rule.title,
            level={environment.value: level.value for environment, level in rule.level.items()},
            severity=rule.severity.value,
            enforced_at=("preview and update", *(("admission",) if rule.admission else ())),
            reason="",
            source=rule.source,
            why=rule.why,
            fix=rule.fix,
        )
        for rule in RULES
    ]
    others = [
        Entry(
            id=advice.id or "",
            demands=advice.advice,
            level={},
            severity="",
            enforced_at=(),
            reason=advice.reason,
            source=advice.source,
            why="",
            fix="",
        )
        for advice in NOT_ENFORCEABLE
    ]
    return sorted([*rules, *others], key=lambda each: (not each.id, each.id))


def entry(rule_id: str) -> Entry:
    """Return the entry with an id, ignoring case.

    Raises
    ------
    UserError
        No rule has this id; the message suggests the nearest one.
    """
    entries = {each.id: each for each in catalogue() if each.id}
    if found := entries.get(rule_id.upper()):
        return found
    hint = f"`igz-clusters policy list` lists all rules{did_you_mean(rule_id, entries)}"
    raise UserError(f"There is no rule {shown(rule_id)}.", f"{hint}.")
