"""What an engine's error is about, where there is a next step that its text does not tell."""

import re
from collections.abc import Iterable
from typing import Final

_EXPIRED: Final = re.compile(
    r"Expired ?Token|RequestExpired|InvalidClientTokenId"
    r"|(token|session|credentials?)\b.{0,60}\b(has|have|is|are) expired|refresh cached (SSO|credentials) .*failed"
    r"|ExpiredAuthenticationToken|AADSTS(50173|70008|70043|700024|700082)\b|[Pp]lease run:? `?'?az login",
    re.IGNORECASE,
)
"""What services say of a session that ended, and how SDKs say it of their own.

https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_general.html
https://learn.microsoft.com/entra/identity-platform/reference-error-codes
"""

_IN_USE: Final = re.compile(
    r"\bDependencyViolation\b|\bInUse\w*CannotBeDeleted\b|\bPublicIPAddressCannotBeDeleted\b|\bCannotDeleteNatGateway"
)
"""https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html, and Azure's network in as many words."""

_BUSY: Final = re.compile(
    r"\bOperationNotAllowed\b.*\bin progress\b|\bAnotherOperationInProgress\b|aks-pending-operation", re.DOTALL
)
"""https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/operationnotallowed."""

_TAKEN: Final = re.compile(
    r"\balready exists\b|ResourceInUseException\b.*\balready in use\b|cannot create already existing resource"
)
"""How AWS's services refuse a name, or a rule or route, that is there; also to a call that is repeated.

Azure would change what is there, so Pulumi's provider looks first and refuses in its own words.
"""

_UNHEARD: Final = re.compile(
    r"exited prematurely|error reading from server|https response error StatusCode: 0\b"
    r"|\b(PUT|DELETE|Put|Delete) \"?https?://\S+: (EOF|.*connection reset|.*broken pipe|.*i/o timeout)"
)
"""A plug-in that died, in the engine's words, and a call without an answer, in those of both clouds' SDKs for Go."""


def is_expired(errors: Iterable[str]) -> bool:
    """Return whether credentials ran out."""
    return any(_EXPIRED.search(error) for error in errors)


def is_in_use(errors: Iterable[str]) -> bool:
    """Return whether something in the cloud still uses what was to be deleted."""
    return any(_IN_USE.search(error) for error in errors)


def is_busy(errors: Iterable[str]) -> bool:
    """Return whether the cloud was still at work on something, and so refused to change it."""
    return any(_BUSY.search(error) for error in errors)


def is_taken(errors: Iterable[str]) -> bool:
    """Return whether something in the cloud has the name of what was to be made."""
    return any(_TAKEN.search(error) for error in errors)


def is_unheard(errors: Iterable[str]) -> bool:
    """Return whether something may have been made of which nobody was told, so that no state has it."""
    return any(_UNHEARD.search(error) for error in errors)
