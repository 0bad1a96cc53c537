"""A made-up rule, for tests about what carries rules."""

import re
from typing import Any

from components.contract.environments import Environment
from policies.rule import EachOf, Level, Rule, Severity

ANYTHING = EachOf(noun="anything", types=re.compile("t"), find=lambda resource: (resource,))


def a_rule(check: Any, dev: Level = Level.MANDATORY, prod: Level = Level.MANDATORY, **changes: Any) -> Rule[Any]:
    fields: dict[str, Any] = {
        "id": "XX-01",
        "slug": "made-up",
        "title": "A made-up rule",
        "severity": Severity.LOW,
        "level": {Environment.DEV: dev, Environment.PROD: prod},
        "source": "Iguazio best practices",
        "applies_to": ANYTHING,
        "why": "Because.",
        "fix": "Do better.",
        "check": check,
    }
    return Rule(**{**fields, **changes})
