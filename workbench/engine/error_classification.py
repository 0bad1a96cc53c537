"""Classifies engine errors for which the user needs a next step that the error does not mention."""

import re
from collections.abc import Iterable
from typing import Final

from workbench.engine.clouds.find import CLOUDS

_CODES: Final = [known.cloud.errors for known in CLOUDS.values()]


def _any_of(patterns: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(filter(None, patterns)), flags)


_EXPIRED: Final = _any_of(
    [r"(token|session|credentials?)\b.{0,60}\b(has|have|is|are) expired", *(codes.expired for codes in _CODES)],
    re.IGNORECASE,
)
_IN_USE: Final = _any_of(codes.in_use for codes in _CODES)
_PROPAGATING: Final = _any_of(codes.propagating for codes in _CODES)
_BUSY: Final = _any_of((codes.busy for codes in _CODES), re.DOTALL)
_NAME_TAKEN: Final = _any_of([r"\balready exists\b", *(codes.name_taken for codes in _CODES)])
"""A name, rule or route that already exists, also after a repeated call."""

_ZONE_REFUSED: Final = _any_of(codes.zone_refused for codes in _CODES)
_OUTCOME_UNKNOWN: Final = re.compile(
    r"exited prematurely|error reading from server|https response error StatusCode: 0\b"
    r"|\b(PUT|DELETE|Put|Delete) \"?https?://\S+: (EOF|.*connection reset|.*broken pipe|.*i/o timeout)"
)
"""The engine's error for a crashed plug-in, and the Go SDKs' errors for a call without a response."""

# https://github.com/pulumi/pulumi-kubernetes/blob/master/provider/pkg/provider/provider.go
_UNREACHABLE: Final = re.compile("cluster is unreachable|unreachable cluster|unable to load schema information")


def is_expired(errors: Iterable[str]) -> bool:
    """Return whether credentials have expired."""
    return any(_EXPIRED.search(error) for error in errors)


def is_unreachable(errors: Iterable[str]) -> bool:
    """Return whether the Kubernetes API did not answer the engine's plug-in."""
    return any(_UNREACHABLE.search(error) for error in errors)


def is_in_use(errors: Iterable[str]) -> bool:
    """Return whether a resource to delete is still in use in the cloud."""
    return any(_IN_USE.search(error) for error in errors)


def is_propagating(errors: Iterable[str]) -> bool:
    """Return whether the cloud refused a change because a new role assignment has not reached all of it yet.

    The codes are the same if the role is missing.
    """
    return any(_PROPAGATING.search(error) for error in errors)


def is_busy(errors: Iterable[str]) -> bool:
    """Return whether the cloud refused a change because another operation is in progress."""
    return any(_BUSY.search(error) for error in errors)


def is_name_taken(errors: Iterable[str]) -> bool:
    """Return whether the name of a resource to create is already in use."""
    return any(_NAME_TAKEN.search(error) for error in errors)


def is_zone_refused(errors: Iterable[str]) -> bool:
    """Return whether the cloud creates no control planes in one of the zones."""
    return any(_ZONE_REFUSED.search(error) for error in errors)


def is_outcome_unknown(errors: Iterable[str]) -> bool:
    """Return whether a resource may have been created without being recorded in the state."""
    return any(_OUTCOME_UNKNOWN.search(error) for error in errors)
