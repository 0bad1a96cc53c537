"""IAM's evaluation logic as AWS documents it, for what moto's IAM leaves out: prefixes and conditions.

It is our own reading of the documentation, not AWS's verdict:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html and
reference_policies_elements_condition_operators.html. Policies of one identity only: no boundaries, no policies of
resources. Elements that it does not know raise ``NotImplementedError``, so that no policy passes unread.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

_READ: Final = {"Sid", "Effect", "Action", "Resource", "Condition", "Principal"}


def allows(policy: str, action: str, resource: str, context: Mapping[str, str] | None = None) -> bool:
    """Return whether a policy allows an action: some statement allows it and none denies it.

    Parameters
    ----------
    policy
        The policy's JSON.
    action
        Such as ``s3:GetObject``; case does not count.
    resource
        ARN; case counts.
    context
        Values of condition keys that the request carries; their case does not count.
    """
    said = {
        statement["Effect"]
        for statement in json.loads(policy)["Statement"]
        if _concerns(statement, action, resource, context or {})
    }
    return said == {"Allow"}


def trusts(policy: str, service: str, action: str, context: Mapping[str, str]) -> bool:
    """Return whether a trust policy lets a service do an action with a role."""
    statements = json.loads(policy)["Statement"]
    theirs = [each for each in statements if service in _list(each["Principal"].get("Service", []))]
    document = json.dumps({"Statement": [{**each, "Resource": "*"} for each in theirs]})
    return allows(document, action, "the role", context)


def _concerns(statement: Mapping[str, Any], action: str, resource: str, context: Mapping[str, str]) -> bool:
    if unknown := statement.keys() - _READ:
        raise NotImplementedError(f"statement with {', '.join(sorted(unknown))}")
    return (
        any(_like(pattern.lower(), action.lower()) for pattern in _list(statement["Action"]))
        and any(_like(pattern, resource) for pattern in _list(statement["Resource"]))
        and all(_holds(operator, keys, context) for operator, keys in statement.get("Condition", {}).items())
    )


def _holds(operator: str, keys: Mapping[str, Any], context: Mapping[str, str]) -> bool:
    """Return whether all keys of an operator match: each one of its values, and a missing key matches nothing."""
    if operator not in _OPERATORS:
        raise NotImplementedError(f"condition operator {operator}")
    given = {key.lower(): value for key, value in context.items()}
    return all(
        key.lower() in given and any(_OPERATORS[operator](value, given[key.lower()]) for value in _list(values))
        for key, values in keys.items()
    )


def _like(pattern: str, text: str) -> bool:
    if "${" in pattern:
        raise NotImplementedError("policy variables")
    wild = {"*": ".*", "?": "."}
    return re.fullmatch("".join(wild.get(char, re.escape(char)) for char in pattern), text, re.DOTALL) is not None


def _equals(value: str, text: str) -> bool:
    return value == text


_OPERATORS: Final[Mapping[str, Callable[[str, str], bool]]] = {"StringEquals": _equals, "StringLike": _like}


def _list(given: str | Iterable[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else list(given)
