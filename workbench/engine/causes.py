"""What an engine's error is about, where there is a next step that its text does not tell."""

import re
from collections.abc import Iterable
from typing import Final

_EXPIRED: Final = re.compile(
    r"Expired ?Token|RequestExpired|InvalidClientTokenId"
    r"|(token|session|credentials?)\b.{0,60}\b(has|have|is|are) expired|refresh cached (SSO|credentials) .*failed",
    re.IGNORECASE,
)
"""https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_general.html, and how SDKs say it of their sessions."""

_IN_USE: Final = re.compile(r"\bDependencyViolation\b")
"""https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html."""

_TAKEN: Final = re.compile(r"\balready exists\b|ResourceInUseException\b.*\balready in use\b")
"""How AWS's services refuse a name, or a rule or route, that is there; also to a call that is repeated."""

_UNHEARD: Final = re.compile(r"exited prematurely|error reading from server|https response error StatusCode: 0\b")
"""A plug-in that died, in the engine's words, and a call without an answer, in those of AWS's SDK for Go."""

SESSION: Final = (
    "The session at AWS ended. Begin a new one that lasts longer than the work (about an hour for a first cluster), "
    "such as by `aws sso login` or by assuming the deployer's role again."
)


def is_expired(errors: Iterable[str]) -> bool:
    """Return whether credentials ran out."""
    return any(_EXPIRED.search(error) for error in errors)


def is_in_use(errors: Iterable[str]) -> bool:
    """Return whether something in AWS still uses what was to be deleted."""
    return any(_IN_USE.search(error) for error in errors)


def is_taken(errors: Iterable[str]) -> bool:
    """Return whether something in AWS has the name of what was to be made."""
    return any(_TAKEN.search(error) for error in errors)


def is_unheard(errors: Iterable[str]) -> bool:
    """Return whether something may have been made of which nobody was told, so that no state has it."""
    return any(_UNHEARD.search(error) for error in errors)
