"""ARM as a caller sees it: requests, errors in the words of the real plug-in, and patience."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

from emulators.core.facts import passing
from emulators.core.polling import Polling, address
from workbench.offline.azure.facts import facts
from workbench.offline.provider import CloudError

ADDRESS_VARIABLE: Final = "IGZ_CLUSTERS_EMULATOR_ARM"
"""Variable with the address of the emulator's server."""

DELAYS: Final = (20.0, 60.0, 120.0)
"""Seconds of Azure's before a request is made again; after as many times it has failed.

Source: ``initPipelineOpts`` in client_azcore.go.
"""

POLL_SECONDS: Final = {"PUT": 10.0, "DELETE": 30.0}
"""Seconds of Azure's between two looks at what takes time, by the request that began it."""

MINUTES: Final = 120.0
"""How long the plug-in waits, in minutes of Azure's time."""

OPERATION: Final = "Azure-AsyncOperation"
"""Header with the address of an operation that takes time."""

SUCCEEDED: Final = "Succeeded"

TIMED_OUT: Final = "operation timed out"
"""What the plug-in says when it has waited long enough."""

_DIRECT: Final = build_opener(ProxyHandler({}))
"""A proxy that the machine has is not for loopback."""


class ArmError(CloudError):
    """A request that ARM refused or that got no answer.

    Parameters
    ----------
    text
        What the real plug-in says of it.
    status, code
        ARM's own; 0 and empty if there was no answer.
    begun
        ARM had taken the request before it failed.
    """

    def __init__(self, text: str, status: int = 0, code: str = "", *, begun: bool = False) -> None:
        super().__init__(text)
        self.status, self.code, self.begun = status, code, begun


@dataclass(frozen=True)
class Answer:
    """What ARM answered."""

    status: int
    headers: "Message[str, str]"
    body: dict[str, Any]

    @property
    def is_refusal(self) -> bool:
        """Whether ARM did not do what it was asked."""
        return self.status >= HTTPStatus.MULTIPLE_CHOICES

    @property
    def passes(self) -> bool:
        """Whether the plug-in takes it for a refusal that passes by itself."""
        code = (self.body.get("error") or {}).get("code")
        return passing(facts().common.retries, status=self.status, code=code or "") is not None

    @property
    def error(self) -> ArmError:
        """The answer as the error that the plug-in makes of it."""
        error = self.body.get("error") or {}
        code, message = error.get("code") or "", error.get("message") or json.dumps(self.body)
        about = f'Code="{code}" ' if code else ""
        return ArmError(f'Status={self.status} {about}Message="{message}"', self.status, code)


class Arm:
    """ARM on loopback; threads may share it.

    Parameters
    ----------
    environment
        Variables of the process.

    Raises
    ------
    RefusedError
        No address is given, or one that is not on loopback: the emulator never talks to Azure itself.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._address = address("Azure", "emulators.azure", ADDRESS_VARIABLE, environment)
        self._pace = Polling.of(environment)

    def look(self, id_: str, version: str) -> Answer:
        """Return what ARM says of an id, whatever it is."""
        return self._send("GET", self._url(id_, {"api-version": version}))

    def get(self, id_: str, version: str) -> dict[str, Any] | None:
        """Return what has an id; None if nothing does.

        Raises
        ------
        ArmError
            ARM does not say.
        """
        answer = self.look(id_, version)
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        if answer.status != HTTPStatus.OK:
            raise answer.error
        return answer.body

    def put(self, id_: str, version: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Write a whole object, wait until ARM is done with it, and return it.

        Raises
        ------
        ArmError
            Also if what ARM began failed or took too long; then it is ``begun``.
        """
        answer = self._send("PUT", self._url(id_, {"api-version": version}), body)
        if answer.is_refusal:
            raise answer.error
        try:
            self._wait("PUT", answer)
        except ArmError as error:
            raise ArmError(str(error), error.status, error.code, begun=True) from error
        return answer.body

    def delete(self, id_: str, version: str) -> None:
        """Delete what has an id and wait until it is gone; what is gone already is fine."""
        answer = self._send("DELETE", self._url(id_, {"api-version": version}))
        try:
            if answer.is_refusal:
                raise answer.error
            self._wait("DELETE", answer)
        except ArmError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise

    def post(self, id_: str, version: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Do something with what has an id and return the answer."""
        answer = self._send("POST", self._url(id_, {"api-version": version, **query}), {})
        if answer.is_refusal:
            raise answer.error
        return answer.body

    def _url(self, id_: str, query: Mapping[str, str]) -> str:
        return f"{self._address}{quote(id_)}?{urlencode(query)}"

    # --- Waiting ----------------------------------------------------------------------------------------------------

    def _wait(self, method: str, begun: Answer) -> None:
        """Wait for what a request began, if it is not done yet."""
        operation, location = begun.headers.get(OPERATION), begun.headers.get("Location")
        where = operation or (location if begun.status == HTTPStatus.ACCEPTED else None)
        if not where:
            return

        def done() -> Answer | None:
            answer = self._send("GET", where)
            return answer if answer.is_refusal or _is_over(answer, is_operation=bool(operation)) else None

        between = int(begun.headers.get("Retry-After") or 0) or POLL_SECONDS[method]
        ended = self._pace.until(done, MINUTES, between)
        if ended is None:
            raise ArmError(TIMED_OUT)
        if ended.is_refusal or (operation and ended.body.get("status") != SUCCEEDED):
            raise ended.error

    def _send(self, method: str, url: str, body: Mapping[str, Any] | None = None) -> Answer:
        """Make a request as often as makes sense, and return the last answer."""
        for delay in DELAYS:
            try:
                answer = self._once(method, url, body)
            except (HTTPException, OSError):
                self._pace.sleep(delay)
                continue
            if not answer.passes:
                return answer
            self._pace.sleep(float(answer.headers.get("Retry-After") or delay))
        try:
            return self._once(method, url, body)
        except (HTTPException, OSError) as error:
            # It may have been done all the same; the plug-in takes it for not done.
            raise ArmError(f'{method.capitalize()} "{url}": {error}') from error

    def _once(self, method: str, url: str, body: Mapping[str, Any] | None) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data, {"Content-Type": "application/json"}, method=method)  # noqa: S310 on loopback
        try:
            with _DIRECT.open(request, timeout=60) as answer:
                return Answer(answer.status, answer.headers, _read(answer.read()))
        except HTTPError as error:
            return Answer(error.code, error.headers, _read(error.read()))


def _is_over(answer: Answer, *, is_operation: bool) -> bool:
    if is_operation:
        return answer.body.get("status") in {SUCCEEDED, "Failed", "Canceled"}
    return answer.status != HTTPStatus.ACCEPTED


def _read(body: bytes) -> dict[str, Any]:
    read = json.loads(body) if body else {}
    return read if isinstance(read, dict) else {"value": read}
