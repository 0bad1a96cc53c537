"""The engine's messages: incoming resources and outgoing verdicts."""

import re
from collections.abc import Iterator
from typing import Any, Final

from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2 as proto
from pulumi_policy import proxy
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY, deserialize_properties

from policies.resource import Resource
from policies.rule import Level, Rule, Severity
from policies.values import UNKNOWN, Value

LEVELS: Final = {
    Level.OFF: proto.DISABLED,
    Level.ADVISORY: proto.ADVISORY,
    Level.MANDATORY: proto.MANDATORY,
}
"""The engine's numbers for enforcement levels."""

_SEVERITIES: Final = {
    Severity.LOW: proto.POLICY_SEVERITY_LOW,
    Severity.MEDIUM: proto.POLICY_SEVERITY_MEDIUM,
    Severity.HIGH: proto.POLICY_SEVERITY_HIGH,
    Severity.CRITICAL: proto.POLICY_SEVERITY_CRITICAL,
}
_SENTINELS: Final = frozenset(text for name, text in vars(proxy).items() if re.fullmatch("UNKNOWN_[A-Z]+_VALUE", name))
"""The engine's placeholders for values that are unknown in a preview."""


def plain(value: Any) -> Any:
    """Return decoded properties with ``UNKNOWN`` in place of the engine's sentinels."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return UNKNOWN if isinstance(value, str) and value in _SENTINELS else value


def resource_of(given: Any, seen: Resource | None = None) -> Resource:
    """Return the resource of a request for one, or of an entry in a request for the whole stack.

    Parameters
    ----------
    given
        The resource as the engine sent it.
    seen
        The same resource as the engine sent it before; its properties are reused.
    """
    props, secrets = (seen.props, seen.secrets) if seen else _decoded(given.properties)
    return Resource(
        type=given.type,
        name=given.name,
        urn=given.urn,
        props=props,
        secrets=secrets,
        protect=given.options.protect,
        ignore_changes=tuple(given.options.ignoreChanges),
        parent=given.options.parent,
        depends_on={key: tuple(made.urns) for key, made in getattr(given, "propertyDependencies", {}).items()},
    )


def _decoded(properties: Any) -> tuple[Value, tuple[str, ...]]:
    raw = json_format.MessageToDict(properties)
    secrets = sorted(_secrets(raw), key=len, reverse=True)
    return Value(plain(deserialize_properties(raw))), tuple(secrets)


def _secrets(value: Any, *, inside: bool = False) -> Iterator[str]:
    """Return the texts that the engine marks as secret, and their longest parts, which no message may show."""
    if isinstance(value, dict):
        inside = inside or value.get(SPECIAL_SIG_KEY) == SPECIAL_SECRET_SIG
        for key, item in value.items():
            if key != SPECIAL_SIG_KEY:
                yield from _secrets(item, inside=inside)
    elif isinstance(value, list):
        for item in value:
            yield from _secrets(item, inside=inside)
    elif inside and isinstance(value, str) and value:
        yield value


def is_mark(value: object) -> bool:
    """Return whether part of a message represents an unknown value, a secret, or another special value."""
    return (isinstance(value, str) and value in _SENTINELS) or (isinstance(value, dict) and SPECIAL_SIG_KEY in value)


def diagnostic(rule: Rule[Any], level: Level, text: str, urn: str) -> Any:
    """Return the engine's diagnostic about ``rule``; without ``urn`` about the resource of the request."""
    return proto.AnalyzeDiagnostic(
        policyName=rule.name,
        description=rule.title,
        message=f"{rule.title}\n{text}",
        urn=urn,
        enforcementLevel=LEVELS[level],
        severity=_SEVERITIES[rule.severity],
    )
