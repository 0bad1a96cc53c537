"""Policy documents of AWS as rules see them: roles, inline policies and policies of file systems."""

import json
from collections.abc import Mapping
from typing import Any

from policies.values import NotJudgeableError, Value


def statements(document: Value) -> list[Mapping[str, Any]]:
    """Return the statements of a policy in JSON; none if there is no document.

    Raises NotJudgeableError if the text is not such a policy.
    """
    if (text := document.text()) is None:
        return []
    try:
        given = json.loads(text)["Statement"]
    except (ValueError, KeyError, TypeError):
        raise NotJudgeableError(document.path, "is not a policy in JSON") from None
    listed = [given] if isinstance(given, dict) else given
    if not isinstance(listed, list) or not all(_is_statement(each) for each in listed):
        raise NotJudgeableError(document.path, "is not a policy in JSON")
    return listed


def _is_statement(given: Any) -> bool:
    """Report whether the parts that rules look into have the types that AWS asks for."""
    if not isinstance(given, dict):
        return False
    condition = given.get("Condition") or {}
    return isinstance(condition, dict) and all(isinstance(operator, dict) for operator in condition.values())
