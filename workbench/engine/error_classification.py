"""Classifies engine errors for which the user needs a next step that the error does not mention."""

import re
from collections.abc import Iterable
from typing import Final

_EXPIRED: Final = re.compile(
    r"Expired ?Token|RequestExpired|InvalidClientTokenId"
    r"|(token|session|credentials?)\b.{0,60}\b(has|have|is|are) expired|refresh cached (SSO|credentials) .*failed"
    r"|ExpiredAuthenticationToken|AADSTS(50173|70008|70043|700024|700082)\b|[Pp]lease run:? `?'?az login",
    re.IGNORECASE,
)
"""Error messages of services and SDKs for an expired session.

https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_general.html
https://learn.microsoft.com/entra/identity-platform/reference-error-codes
"""

_IN_USE: Final = re.compile(
    r"\bDependencyViolation\b|\bInUse\w*CannotBeDeleted\b|\bPublicIPAddressCannotBeDeleted\b|\bCannotDeleteNatGateway"
)
"""https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html, and Azure's network equivalents."""

_BUSY: Final = re.compile(
    r"\bOperationNotAllowed\b.*\bin progress\b|\bAnotherOperationInProgress\b|aks-pending-operation", re.DOTALL
)
"""https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/operationnotallowed."""

_NAME_TAKEN: Final = re.compile(
    r"\balready exists\b|ResourceInUseException\b.*\balready in use\b|cannot create already existing resource"
)
"""Errors of AWS services for a name, rule or route that already exists, also after a repeated call.

Azure would update the existing resource, so Pulumi's provider checks first and reports its own error.
"""

_OUTCOME_UNKNOWN: Final = re.compile(
    r"exited prematurely|error reading from server|https response error StatusCode: 0\b"
    r"|\b(PUT|DELETE|Put|Delete) \"?https?://\S+: (EOF|.*connection reset|.*broken pipe|.*i/o timeout)"
)
"""The engine's error for a crashed plug-in, and the Go SDKs' errors for a call without a response."""


def is_expired(errors: Iterable[str]) -> bool:
    """Return whether credentials have expired."""
    return any(_EXPIRED.search(error) for error in errors)


def is_in_use(errors: Iterable[str]) -> bool:
    """Return whether a resource to delete is still in use in the cloud."""
    return any(_IN_USE.search(error) for error in errors)


def is_busy(errors: Iterable[str]) -> bool:
    """Return whether the cloud refused a change because another operation is in progress."""
    return any(_BUSY.search(error) for error in errors)


def is_name_taken(errors: Iterable[str]) -> bool:
    """Return whether the name of a resource to create is already in use."""
    return any(_NAME_TAKEN.search(error) for error in errors)


def is_outcome_unknown(errors: Iterable[str]) -> bool:
    """Return whether a resource may have been created without being recorded in the state."""
    return any(_OUTCOME_UNKNOWN.search(error) for error in errors)
