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
        given = None
    listed = [given] if isinstance(given, dict) else given
    if not isinstance(listed, list) or not all(_is_statement(each) for each in listed):
        raise NotJudgeableError(document.path, "is not a policy in JSON")
    return listed


def principals(statement: Mapping[str, Any], kind: str) -> list[str]:
    """Return a statement's principals of a kind, such as ``AWS`` or ``Service``; ``*`` alone stands for every kind."""
    given = statement.get("Principal") or {}
    return [given] if isinstance(given, str) else texts(given.get(kind))


def texts(given: Any) -> list[str]:
    """Return what a policy gives as one text or as a list of texts."""
    return [given] if isinstance(given, str) else list(given or ())


def _is_statement(given: Any) -> bool:
    """Report whether the parts that rules look into have the types that AWS asks for."""
    if not isinstance(given, dict):
        return False
    condition, principal = given.get("Condition") or {}, given.get("Principal") or {}
    if not isinstance(condition, dict) or not all(isinstance(operator, dict) for operator in condition.values()):
        return False
    named = principal.values() if isinstance(principal, dict) else [principal]
    return all(map(_are_texts, (*named, given.get("Action"), given.get("Resource"))))


def _are_texts(given: Any) -> bool:
    return all(isinstance(each, str) for each in (given if isinstance(given, list) else [given or ""]))
