"""The one WSGI application of a emulator: every call is named, logged, met by fault rules, and done."""

import os
import signal
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import psutil

from emulators.core.answers import Answer, Environ, StartResponse
from emulators.core.calls import DROPPED, Call, Calls
from emulators.core.clock import Clock
from emulators.core.fault_outcome import FaultOutcome, outcome
from emulators.core.faults import (
    ErrorRule,
    Faults,
    KillRule,
    LostRule,
    Moment,
    NotYetVisibleRule,
    Rule,
    SlowRule,
)
from emulators.core.refusal import Refusal


class NoAnswerError(ConnectionError):
    """The connection ends without an answer; the listener closes it."""


class Asked(Protocol):
    """A request, as the log of calls and the fault rules see it; ``calls.Call`` says what is what."""

    @property
    def operation(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def params(self) -> dict[str, Any]: ...


R = TypeVar("R", bound=Asked)


class Application(ABC, Generic[R]):
    """A cloud. What is done is done one call at a time; waiting is not.

    Parameters
    ----------
    clock
        When work is done.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock, self.calls, self.faults = clock, Calls(), Faults()
        self.store = threading.RLock()
        """Held while what exists is read or changed."""

    @abstractmethod
    def read(self, environ: Environ) -> R:
        """Return what is asked for, or raise ``Refusal`` if the service has no such request."""

    @abstractmethod
    def do(self, request: R, outcome: FaultOutcome, environ: Environ) -> Answer:
        """Do what is asked for, with ``store`` held and all that was due done, or raise ``Refusal``."""

    @abstractmethod
    def look(self, request: R) -> None:
        """Raise ``Refusal`` if the request itself is wrong, whatever exists."""

    @abstractmethod
    def miss(self, request: R, recent: Sequence[Call]) -> None:
        """Raise ``Refusal`` if the request names an identity that one of these calls made."""

    @abstractmethod
    def refusal(self, error: Refusal, request: R | None) -> Answer:
        """Return a refusal as the service writes it; without a request it could not be read."""

    @abstractmethod
    def code(self, answer: Answer, request: R) -> str:
        """Return the error code of an answer, empty for a success."""

    @abstractmethod
    def inventory(self) -> Mapping[str, list[str]]:
        """Return the ids of what exists by type, with ``store`` held."""

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        return self._answer(environ).send(start_response)

    def _answer(self, environ: Environ) -> Answer:
        try:
            request = self.read(environ)
        except Refusal as error:
            self.calls.end(self.calls.begin("unknown", environ["PATH_INFO"], {}), error.code)
            return self.refusal(error, None)
        call = self.calls.begin(request.operation, request.about, request.params)
        code = DROPPED
        try:
            answer = self._struck(request, call, self.faults.of(call), environ)
            code = self.code(answer, request)
        finally:
            self.calls.end(call, code)
        return answer

    def _struck(self, request: R, call: Call, rules: list[Rule], environ: Environ) -> Answer:
        """Do a request as the fault rules leave it."""
        for rule in rules:
            if isinstance(rule, SlowRule):
                self.faults.wait(rule.seconds)
            elif isinstance(rule, KillRule) and rule.moment is Moment.BEFORE:
                _kill(rule.pids)
                raise NoAnswerError
        try:
            self._refuse(request, call, rules)
            answer = self._done(request, outcome(rules), environ)
        except Refusal as error:
            answer = self.refusal(error, request)
        except Exception as error:  # noqa: BLE001 whatever it is, the caller must not wait for an answer
            traceback.print_exc()
            broken = Refusal("InternalFailure", 500, f"The emulator failed in {request.operation}: {error!r}")
            answer = self.refusal(broken, request)
        for rule in rules:
            if isinstance(rule, KillRule) and rule.moment is Moment.AFTER:
                _kill(rule.pids)
                raise NoAnswerError
            if isinstance(rule, LostRule):
                raise NoAnswerError
        return answer

    def _refuse(self, request: R, call: Call, rules: list[Rule]) -> None:
        for rule in rules:
            if isinstance(rule, ErrorRule):
                raise Refusal(rule.code, rule.status, rule.message)
            if isinstance(rule, NotYetVisibleRule):
                recent = self.calls.after(max(0, call.number - 1 - rule.calls))
                self.miss(request, [each for each in recent if each.number < call.number])

    def _done(self, request: R, outcome: FaultOutcome, environ: Environ) -> Answer:
        self.look(request)
        with self.store:
            self.clock.settle()
            return self.do(request, outcome, environ)


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
