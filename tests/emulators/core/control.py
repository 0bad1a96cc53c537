"""Routes under ``/_emulator/`` for tests: what no cloud's own API has."""

import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, TypeAdapter

from emulators.core.answers import Answer, Environ, StartResponse, json_answer
from emulators.core.application import Application
from emulators.core.doors import Doors, Place
from emulators.core.faults import RULES

PREFIX: Final = "/_emulator/"

Route: TypeAlias = Callable[[bytes, str], Any]
"""Takes a body and a query, and returns what the answer says; LookupError and ValueError are told to the caller."""


class Body(BaseModel):
    """What a route is sent."""

    model_config = ConfigDict(extra="forbid")


_PLACE: Final[TypeAdapter[Place | None]] = TypeAdapter(Place | None)


class _Clock(Body):
    scale: NonNegativeFloat


class _Passed(Body):
    seconds: NonNegativeFloat


class _Caller(Body):
    cluster: str
    place: Place


class Control:
    """A cloud with the routes of the tests beside its own."""

    def __init__(self, application: Application[Any], doors: Doors) -> None:
        self._application, self._doors = application, doors

    def routes(self) -> dict[tuple[str, str], Route]:
        """Return the routes by method and name."""
        return {
            ("GET", "calls"): self._calls,
            ("GET", "inventory"): self._inventory,
            ("POST", "barriers"): self._barrier,
            ("PUT", "clock"): self._clock,
            ("POST", "clock"): self._advance,
            ("PUT", "faults"): self._faults,
            ("PUT", "place"): self._stand,
        }

    def __call__(self, environ: Environ, start_response: StartResponse) -> Any:
        """Answer one request, the cloud's or a test's."""
        if not environ["PATH_INFO"].startswith(PREFIX):
            return self._application(environ, start_response)
        return self._answer(environ).send(start_response)

    def _answer(self, environ: Environ) -> Answer:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        asked = environ["REQUEST_METHOD"], environ["PATH_INFO"].removeprefix(PREFIX)
        routes = self.routes()
        if asked not in routes:
            known = ", ".join(f"{method} {PREFIX}{name}" for method, name in routes)
            return json_answer(404, {"error": f"{' '.join(asked)} is no route; there are {known}"})
        try:
            return json_answer(200, routes[asked](body, environ.get("QUERY_STRING", "")))
        except (LookupError, ValueError) as error:
            return json_answer(400, {"error": str(error)})

    def _calls(self, _body: bytes, query: str) -> Any:
        after = re.fullmatch(r"after=(\d+)", query)
        return [asdict(call) for call in self._application.calls.after(int(after[1]) if after else 0)]

    def _inventory(self, _body: bytes, _query: str) -> Any:
        with self._application.store:
            self._application.clock.settle()
            return self._application.inventory()

    def _clock(self, body: bytes, _query: str) -> Any:
        with self._application.store:
            self._application.clock.scale = _Clock.model_validate_json(body).scale

    def _advance(self, body: bytes, _query: str) -> Any:
        with self._application.store:
            self._application.clock.advance(_Passed.model_validate_json(body).seconds)

    def _barrier(self, body: bytes, _query: str) -> Any:
        caller = _Caller.model_validate_json(body)
        with self._application.store:
            self._application.clock.settle()
            return self._doors.barrier(caller.cluster, caller.place)

    def _stand(self, body: bytes, _query: str) -> Any:
        self._doors.place = _PLACE.validate_json(body)

    def _faults(self, body: bytes, _query: str) -> Any:
        self._application.faults.replace(RULES.validate_json(body))
