"""Routes under ``/_double/`` for whoever tests: what AWS's own API does not have."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt

from workbench.clouds.aws.double.server import autoscaling, store
from workbench.clouds.aws.double.server.answers import JSON_TYPES, Answer, StartResponse
from workbench.clouds.aws.double.server.application import Application, Environ
from workbench.clouds.aws.double.server.faults import RULES
from workbench.clouds.aws.double.server.inventory import inventory
from workbench.clouds.aws.double.server.references import missing_security_groups, missing_subnets

PREFIX: Final = "/_double/"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Move(_Body):
    group: str
    desired: NonNegativeInt


class _Interface(_Body):
    subnet: str
    groups: list[str] = []
    description: str = "left by a load balancer"


class _Clock(_Body):
    scale: NonNegativeFloat


class Control:
    """The application with the routes of the tests beside those of AWS."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._routes: dict[tuple[str, str], Callable[[bytes, str], Any]] = {
            ("GET", "calls"): self._calls,
            ("GET", "inventory"): self._inventory,
            ("PUT", "clock"): self._clock,
            ("PUT", "faults"): self._faults,
            ("POST", "network-interfaces"): self._interface,
            ("POST", "sizes"): self._move,
        }

    def __call__(self, environ: Environ, start_response: StartResponse) -> Any:
        """Answer one request, AWS's or a test's."""
        if not environ["PATH_INFO"].startswith(PREFIX):
            return self._application(environ, start_response)
        return self._answer(environ).send(start_response)

    def _answer(self, environ: Environ) -> Answer:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        asked = environ["REQUEST_METHOD"], environ["PATH_INFO"].removeprefix(PREFIX)
        route = self._routes.get(asked)
        if route is None:
            known = ", ".join(f"{method} {PREFIX}{name}" for method, name in self._routes)
            return _json(404, {"error": f"{' '.join(asked)} is no route; there are {known}"})
        try:
            return _json(200, route(body, environ.get("QUERY_STRING", "")))
        except (LookupError, ValueError) as error:
            return _json(400, {"error": str(error)})

    def _calls(self, _body: bytes, query: str) -> Any:
        after = re.fullmatch(r"after=(\d+)", query)
        return [asdict(call) for call in self._application.calls.after(int(after[1]) if after else 0)]

    def _inventory(self, _body: bytes, _query: str) -> Any:
        with self._application.store:
            self._application.surroundings.clock.settle()
            return {**inventory(), **self._application.eks.inventory()}

    def _clock(self, body: bytes, _query: str) -> Any:
        with self._application.store:
            self._application.surroundings.clock.scale = _Clock.model_validate_json(body).scale

    def _faults(self, body: bytes, _query: str) -> Any:
        self._application.faults.replace(RULES.validate_json(body))

    def _interface(self, body: bytes, _query: str) -> Any:
        wanted = _Interface.model_validate_json(body)
        with self._application.store:
            if missing := [*missing_subnets([wanted.subnet]), *missing_security_groups(wanted.groups)]:
                raise LookupError(f"there is no {' and no '.join(missing)}")
            made = store.ec2().create_network_interface(
                store.ec2().get_subnet(wanted.subnet), "", group_ids=wanted.groups, description=wanted.description
            )
            return made.id

    def _move(self, body: bytes, _query: str) -> Any:
        wanted = _Move.model_validate_json(body)
        with self._application.store:
            size = autoscaling.size_of(wanted.group)
            if not size.minimum <= wanted.desired <= size.maximum:
                raise ValueError(f"{wanted.group} has {size.minimum} to {size.maximum} nodes, given {wanted.desired}")
            autoscaling.resize(wanted.group, autoscaling.Size(size.minimum, size.maximum, wanted.desired))


def _json(status: int, value: Any) -> Answer:
    return Answer(status, {"Content-Type": JSON_TYPES["rest-json"]}, json.dumps(value, default=str).encode())
