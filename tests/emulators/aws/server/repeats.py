"""Requests that come twice: one with the same token as an earlier one is that one, and makes nothing.

https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
"""

from typing import Any, Final

from emulators.aws.server.errors import AwsError
from emulators.aws.server.requests import Request
from emulators.core.answers import Answer

TOKEN: Final = "ClientToken"  # noqa: S105 a request's name for itself


class Repeats:
    """The answers of requests that had a token."""

    def __init__(self) -> None:
        self._answered: dict[tuple[str, str], tuple[dict[str, Any], Answer]] = {}

    def answer(self, request: Request) -> Answer | None:
        """Return what the first request with this token was answered, None if this is the first or has no token.

        Raises
        ------
        AwsError
            The first one wanted something else.
        """
        token = request.params.get(TOKEN, "")
        params, answer = self._answered.get((request.operation, token), (None, None))
        if answer and params != request.params:
            told = f"The client token {token} was used before with other parameters."
            raise AwsError("IdempotentParameterMismatch", 400, told)
        return answer

    def keep(self, request: Request, answer: Answer) -> None:
        """Keep the answer of a request that was granted."""
        if token := request.params.get(TOKEN):
            self._answered[request.operation, token] = (request.params, answer)
