"""IAM's evaluation logic as AWS documents it, for what moto's IAM leaves out: prefixes and conditions.

It is our own reading of the documentation, not AWS's verdict:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html and
reference_policies_elements_condition_operators.html. Policies of one identity only: no boundaries, no policies of
resources. Elements that it does not know raise ``NotImplementedError``, so that no policy passes unread.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

_READ: Final = {"Sid", "Effect", "Action", "Resource", "Condition", "Principal"}


Context: TypeAlias = Mapping[str, str | Sequence[str]]


def allows(policy: str, action: str, resource: str, context: Context | None = None) -> bool:
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
        Values of condition keys that the request carries, several of one key as a list; the keys' case does not count.
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


def _concerns(statement: Mapping[str, Any], action: str, resource: str, context: Context) -> bool:
    if unknown := statement.keys() - _READ:
        raise NotImplementedError(f"statement with {', '.join(sorted(unknown))}")
    return (
        any(_like(pattern.lower(), action.lower()) for pattern in _list(statement["Action"]))
        and any(_like(pattern, resource) for pattern in _list(statement["Resource"]))
        and all(_holds(operator, keys, context) for operator, keys in statement.get("Condition", {}).items())
    )


def _holds(operator: str, keys: Mapping[str, Any], context: Context) -> bool:
    """Return whether all keys of an operator match: each one of its values, and a missing key matches nothing.

    With ``ForAllValues`` each of a key's values must match, which is true of a missing key; ``Null`` asks whether a key
    is missing: reference_policies_condition-single-vs-multi-valued-context-keys.html.
    """
    given = {key.lower(): _list(value) for key, value in context.items()}
    if operator == "Null":
        return all((key.lower() not in given) is (value == "true") for key, value in keys.items())
    plain = operator.removeprefix(_EVERY)
    if plain not in _OPERATORS:
        raise NotImplementedError(f"condition operator {operator}")

    def matches(key: str, values: str | Iterable[str]) -> bool:
        found = given.get(key.lower(), ())
        fits = [any(_OPERATORS[plain](value, text) for value in _list(values)) for text in found]
        return all(fits) if operator != plain else len(fits) == 1 and fits[0]

    return all(matches(key, values) for key, values in keys.items())


def _like(pattern: str, text: str) -> bool:
    if "${" in pattern:
        raise NotImplementedError("policy variables")
    wild = {"*": ".*", "?": "."}
    return re.fullmatch("".join(wild.get(char, re.escape(char)) for char in pattern), text, re.DOTALL) is not None


def _equals(value: str, text: str) -> bool:
    return value == text


_EVERY: Final = "ForAllValues:"
_OPERATORS: Final[Mapping[str, Callable[[str, str], bool]]] = {"StringEquals": _equals, "StringLike": _like}


def _list(given: str | Iterable[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else list(given)
