"""The one WSGI application of the double: every call is named, logged, met by fault rules, and done.

EKS is done by a service of our own, the rest by moto's application in the same process. What is done is done one call
at a time, because moto is not safe to use from several threads; waiting is not.
"""

import os
import signal
import threading
import time
import traceback
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, TypeAlias

import psutil
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from workbench.clouds.aws.double.server.answers import JSON_TYPES, Answer, StartResponse, members_of, refusal, success
from workbench.clouds.aws.double.server.calls import DROPPED, Call, Calls
from workbench.clouds.aws.double.server.consequences import follow, has_consequence
from workbench.clouds.aws.double.server.errors import AwsError
from workbench.clouds.aws.double.server.faults import (
    ErrorRule,
    FailedRule,
    Faults,
    KillRule,
    LostRule,
    Moment,
    NotYetVisibleRule,
    Rule,
    SlowRule,
    StuckRule,
)
from workbench.clouds.aws.double.server.models import protocol
from workbench.clouds.aws.double.server.references import check
from workbench.clouds.aws.double.server.repeats import Repeats
from workbench.clouds.aws.double.server.requests import Request, read
from workbench.clouds.aws.double.server.service import Fate, HealthIssue, Service, Surroundings
from workbench.clouds.aws.double.server.validation import problems

Environ: TypeAlias = dict[str, Any]

REFUSED: dict[str, tuple[str, int]] = {
    "ec2": ("InvalidParameterValue", 400),
    "query": ("ValidationError", 400),
    "json": ("ValidationException", 400),
    "rest-json": ("InvalidParameterException", 400),
}
"""How services word what their model does not allow, by protocol."""


class NoAnswerError(ConnectionError):
    """The connection ends without an answer; the listener closes it."""


class Application:
    """AWS.

    Parameters
    ----------
    eks
        The service that answers for EKS.
    surroundings
        What that service was made with.
    """

    def __init__(self, eks: Service, surroundings: Surroundings) -> None:
        self.eks, self.surroundings = eks, surroundings
        self.calls, self.faults = Calls(), Faults()
        self.store = threading.RLock()
        """Held by whoever reads or changes what exists."""
        self._repeats = Repeats()
        self._moto = DomainDispatcherApplication(create_backend_app)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        return self._answer(environ).send(start_response)

    def _answer(self, environ: Environ) -> Answer:
        try:
            request = read(environ)
        except AwsError as error:
            self.calls.end(self.calls.begin("unknown", environ["PATH_INFO"], {}), error.code)
            return refusal("rest-json", error)
        call = self.calls.begin(request.operation, request.about, request.params)
        code = DROPPED
        try:
            answer = self._struck(request, call, self.faults.of(call), environ)
            code = _code(answer, request)
        finally:
            self.calls.end(call, code)
        return answer

    def _struck(self, request: Request, call: Call, rules: list[Rule], environ: Environ) -> Answer:
        """Do a request as the fault rules leave it."""
        for rule in rules:
            if isinstance(rule, SlowRule):
                time.sleep(rule.seconds)
            elif isinstance(rule, KillRule) and rule.moment is Moment.BEFORE:
                _kill(rule.pids)
                raise NoAnswerError
        try:
            self._refuse(request, call, rules)
            answer = self._done(request, _fate(rules), environ)
        except AwsError as error:
            answer = refusal(protocol(request.service), error)
        except Exception as error:  # noqa: BLE001 whatever it is, the caller must not wait for an answer
            traceback.print_exc()
            broken = AwsError("InternalFailure", 500, f"The AWS double failed in {request.operation}: {error!r}")
            answer = refusal(protocol(request.service), broken)
        for rule in rules:
            if isinstance(rule, KillRule) and rule.moment is Moment.AFTER:
                _kill(rule.pids)
                raise NoAnswerError
            if isinstance(rule, LostRule):
                raise NoAnswerError
        return answer

    def _refuse(self, request: Request, call: Call, rules: list[Rule]) -> None:
        for rule in rules:
            if isinstance(rule, ErrorRule):
                raise AwsError(rule.code, rule.status, rule.message)
            if isinstance(rule, NotYetVisibleRule):
                self._look_for_roles(request, call, rule.calls)

    def _look_for_roles(self, request: Request, call: Call, patience: int) -> None:
        recent = self.calls.after(max(0, call.number - 1 - patience))
        new = {each.about for each in recent if each.operation == "iam:CreateRole" and each.number < call.number}
        for arn in (value for value in request.params.values() if isinstance(value, str) and ":role/" in value):
            if arn.rpartition("/")[2] in new:
                why = "it does not exist or the trusted entity is not correct"
                message = f"Role with arn: {arn}, could not be assumed because {why}"
                raise AwsError("InvalidParameterException", 400, message)

    def _done(self, request: Request, fate: Fate, environ: Environ) -> Answer:
        if wrong := problems(request.params, request.model.input_shape):
            code, status = REFUSED[protocol(request.service)]
            raise AwsError(code, status, "; ".join(wrong))
        with self.store:
            self.surroundings.clock.settle()
            if request.service == "eks":
                return self._ours(request, fate)
            return self._repeats.answer(request) or self._motos(request, environ)

    def _motos(self, request: Request, environ: Environ) -> Answer:
        check(request)
        answer = _moto_answer(self._moto, environ)
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            return answer
        if has_consequence(request):
            written = protocol(request.service)
            members = members_of(written, request.model, answer)
            follow(request, members, self.surroundings.clock)
            answer = success(written, request.model, members) if written in JSON_TYPES else answer
        self._repeats.keep(request, answer)
        return answer

    def _ours(self, request: Request, fate: Fate) -> Answer:
        try:
            members = self.eks.handle(request.model.name, request.params, fate)
        except NotImplementedError:
            raise AwsError("NotImplemented", 501, f"The AWS double has no {request.operation}.") from None
        if wrong := problems(members, request.model.output_shape):
            raise AssertionError(f"{request.operation} must not answer so: {'; '.join(wrong)}")
        return success(protocol(request.service), request.model, members)


def _moto_answer(moto: Any, environ: Environ) -> Answer:
    started: dict[str, Any] = {}

    def start(status: str, headers: list[tuple[str, str]], _exc_info: object = None) -> None:
        started.update(status=int(status.partition(" ")[0]), headers=dict(headers))

    body = b"".join(moto(environ, start))
    return Answer(started["status"], started["headers"], body)


def _code(answer: Answer, request: Request) -> str:
    """Return the error code of an answer, empty for a success."""
    if answer.status < HTTPStatus.MULTIPLE_CHOICES:
        return ""
    error: dict[str, str] = members_of(protocol(request.service), request.model, answer).get("Error", {})
    return error.get("Code", "") or str(answer.status)


def _fate(rules: list[Rule]) -> Fate:
    issues = [issue for rule in rules if isinstance(rule, FailedRule) for issue in rule.issues]
    return Fate(
        is_stuck=any(isinstance(rule, StuckRule) for rule in rules),
        issues=tuple(HealthIssue(issue.code, issue.message) for issue in issues),
    )


def _kill(pids: tuple[int, ...]) -> None:
    """Kill processes with all their children, the eldest first, so that none of them tells of the others' end."""
    for pid in pids:
        try:
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
        for process in family:
            try:
                os.kill(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
