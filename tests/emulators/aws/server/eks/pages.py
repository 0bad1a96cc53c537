"""Lists that come page by page."""

from collections.abc import Sequence
from typing import Any, Final

from emulators.aws.server.eks.refusals import invalid_parameter
from emulators.aws.server.eks.store import Request

PAGE_MAX: Final = 100
"""Results of a page where the request names no number, and the most that it may name."""


def page(request: Request, member: str, found: Sequence[Any]) -> dict[str, Any]:
    """Return the page that a request asks for, with the token of the next one if there is one.

    Parameters
    ----------
    member
        Of the answer that holds the list.
    found
        The whole list, in an order that stays from page to page.
    """
    token = request.get("nextToken") or "0"
    if not token.isdecimal():
        raise invalid_parameter(f"nextToken {token} was not given by an earlier page")
    start = int(token)
    end = start + (request.get("maxResults") or PAGE_MAX)
    answer: dict[str, Any] = {member: list(found[start:end])}
    if end < len(found):
        answer["nextToken"] = str(end)
    return answer
