"""Azure Resource Manager as an application."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPMethod, HTTPStatus

from typing_extensions import override

from emulators.azure.server.ids import CLUSTER
from emulators.azure.server.kinds.identity import ASSIGNMENT, IDENTITY, refuse_unreplicated
from emulators.azure.server.requests import Request, read
from emulators.azure.server.resources import Resources
from emulators.core import application
from emulators.core.answers import Answer, Environ, json_answer
from emulators.core.calls import Call
from emulators.core.clock import Clock
from emulators.core.fault_outcome import FaultOutcome
from emulators.core.refusal import Refusal


class Application(application.Application[Request]):
    """Azure.

    Parameters
    ----------
    resources
        What exists.
    clock
        Its own.
    """

    def __init__(self, resources: Resources, clock: Clock) -> None:
        super().__init__(clock)
        self.resources = resources

    @override
    def read(self, environ: Environ) -> Request:
        return read(environ)

    @override
    def look(self, request: Request) -> None:
        """Refuse nothing: what a type takes is known where it is kept."""

    @override
    def miss(self, request: Request, recent: Sequence[Call]) -> None:
        if request.method is not HTTPMethod.PUT:
            return
        new = {_made(each): each.about.lower() for each in recent}
        about = request.id.type.lower()
        with self.store:
            if about == ASSIGNMENT.lower():
                ids = {each.about.lower() for each in recent if _made(each) == IDENTITY.lower()}
                refuse_unreplicated(self.resources.store, request.body, ids)
            elif about == CLUSTER.lower() and ASSIGNMENT.lower() in new:
                ids = {each.about.lower() for each in recent if _made(each) == ASSIGNMENT.lower()}
                self.resources.clusters.check_rights(request, ids)

    @override
    def do(self, request: Request, outcome: FaultOutcome, environ: Environ) -> Answer:
        return self.resources.handle(replace(request, outcome=outcome))

    @override
    def refusal(self, error: Refusal, request: Request | None) -> Answer:
        return json_answer(error.status, {"error": {"code": error.code, "message": error.message}})

    @override
    def code(self, answer: Answer, request: Request) -> str:
        if answer.status < HTTPStatus.MULTIPLE_CHOICES:
            return ""
        code: str = json.loads(answer.body)["error"]["code"]
        return code

    @override
    def inventory(self) -> Mapping[str, list[str]]:
        return self.resources.inventory()


def _made(call: Call) -> str:
    """Return the type that a call wrote, in lower case; empty if it wrote nothing."""
    type_, _, verb = call.operation.lower().rpartition("/")
    return type_ if verb == "write" else ""
