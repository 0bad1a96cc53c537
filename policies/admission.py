"""Data of the rules that the API server checks too; ``components.scheduling`` creates admission policies from it.

``python -m policies.admission --write`` renews the file, ``--check`` fails if it is out of date.
"""

import json
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

from policies.generated import keep_current
from policies.registry import RULES
from policies.rule import Admission, Rule

SOURCES: Final = Path(__file__).parent.parent / "docs" / "sources.md"
DATA: Final = Path(__file__).parent.parent / "components" / "scheduling" / "admission_rules.json"


def source_link(rule: Rule[Any]) -> str:
    """Return the public page of the first document that a rule cites; empty if it cites none of ``docs/sources.md``."""
    row = re.search(rf"^\| {re.escape(rule.source.partition(', ')[0])} \|.*<(.+)> \|$", _sources(), re.MULTILINE)
    return row[1] if row else ""


@cache
def _sources() -> str:
    return SOURCES.read_text(encoding="utf-8")


def entries(rules: Iterable[Rule[Any]] = RULES) -> list[dict[str, Any]]:
    """Return the entry of each rule with an admission form, in the order of ``rules``."""
    return [_entry(rule, rule.admission) for rule in rules if rule.admission]


def _entry(rule: Rule[Any], admission: Admission) -> dict[str, Any]:
    return {
        "id": rule.id,
        "subject": admission.subject,
        "expression": admission.expression,
        "culprits": admission.culprits,
        # The plain sentence first: its reader has often never heard of this repository.
        "title": rule.title,
        "advice": f"Fix: {rule.fix} [{rule.id}]",
        "source": source_link(rule),
        "level": {environment.value: level.value for environment, level in rule.level.items()},
        "spares_core_services": admission.spares_core_services,
        "concerns_place": admission.concerns_place,
    }


def render() -> str:
    """Return the file's text."""
    return json.dumps(entries(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(keep_current(DATA, render(), "policies.admission", __doc__))
