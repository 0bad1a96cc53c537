"""What goes back over the wire."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[[str, list[tuple[str, str]]], object]


@dataclass(frozen=True)
class Answer:
    """One answer.

    Parameters
    ----------
    status
        HTTP status.
    headers
        By name.
    body
        As it is sent.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    def send(self, start_response: StartResponse) -> list[bytes]:
        """Return what a WSGI application returns."""
        headers = {**self.headers, "Content-Length": str(len(self.body))}
        start_response(f"{self.status} Emulator", list(headers.items()))
        return [self.body]


def json_answer(status: int, value: Any, **headers: str) -> Answer:
    """Return an answer whose body is JSON."""
    return Answer(status, {"Content-Type": "application/json", **headers}, json.dumps(value, default=str).encode())
