"""Reads the engine's event stream, one JSON event per line. The stream is untrusted: a change's own run wrote it.

Valid events become typed objects. Invalid lines are reported, and the rest is still read. Only a stream without
invalid lines is complete, so the absence of an event means something only there.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import from_json

from workbench.report.event_payloads import (
    Diagnostic,
    Failure,
    Judged,
    Payload,
    PolicyMessage,
    Prelude,
    Remediation,
    Step,
    StepEvent,
    Summary,
    Unread,
)

SIZE_MAX: Final = 64_000_000
"""Maximum bytes of a stream; one with 3,000 resources has about 30 million."""

LINE_MAX: Final = 8_000_000
"""Maximum bytes of an event."""

INVALID_LINES_MAX: Final = 10
"""Maximum number of invalid lines listed; the rest are counted."""

STACK_TYPE: Final = "pulumi:pulumi:Stack"
"""Type of the resource that holds the stack's outputs."""

RENDERED: Final = "igz-clusters:rendered"
"""Configuration key that marks the event stream of an offline render."""

NOT_COMPARED: Final = "igz-clusters:notCompared"
"""Configuration key in the event stream of a comparison: what was left out of it, and why."""

_ERROR: Final = "error"
_STDERR: Final = "info#err"
"""Severity of what the program and plug-ins write to their standard error: also warnings of Python."""

_COLOUR: Final = re.compile(r"<\{%[^%]*%\}>|\x1b\[[0-9;]*[A-Za-z]")
"""Colour codes of the engine and of terminals."""


@dataclass
class Stream:
    """A parsed event stream.

    Parameters
    ----------
    steps
        Steps in order, as recorded before each one.
    results
        Steps as recorded afterwards, with outputs; for a refresh, with the differences found.
    failures
        Failed steps.
    said, judged, judged_stack, remediations
        Policy violations; evaluated rules by resource; evaluated rules of the whole stack; remediations.
    diagnostics
        Other messages, without the engine's debug messages.
    config
        The stack's configuration, as text.
    summaries
        The engine's summaries; exactly one in a complete stream.
    invalid_lines
        Reasons why the stream is incomplete; empty if it is complete.
    """

    steps: list[Step] = field(default_factory=list)
    results: list[Step] = field(default_factory=list)
    failures: list[Step] = field(default_factory=list)
    said: list[PolicyMessage] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    judged_stack: list[Judged] = field(default_factory=list)
    remediations: list[Remediation] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    config: dict[str, str] = field(default_factory=dict)
    summaries: list[Summary] = field(default_factory=list)
    invalid_lines: list[str] = field(default_factory=list)

    @property
    def summary(self) -> Summary | None:
        """The engine's summary; None unless there is exactly one."""
        return self.summaries[0] if len(self.summaries) == 1 else None

    @property
    def errors(self) -> list[str]:
        """Errors of the engine, then what the program wrote to its standard error, each without colour codes."""
        return list(dict.fromkeys([*self.own_errors, *self._messages(_STDERR)]))

    @property
    def own_errors(self) -> list[str]:
        """Errors of the engine alone, without colour codes."""
        return self._messages(_ERROR)

    @property
    def warnings(self) -> list[str]:
        """Warnings of the engine, a provider or the program, without colour codes."""
        return self._messages("warning")

    def _messages(self, severity: str) -> list[str]:
        texts = (
            _KEPT.sub(_WARNING, plain(each.message)).strip() for each in self.diagnostics if each.severity == severity
        )
        return [text for text in dict.fromkeys(texts) if text]


# https://github.com/pulumi/pulumi-kubernetes/blob/master/provider/pkg/provider/provider.go
_KEPT: Final = re.compile(
    r"If the cluster was deleted, you can remove this resource .* PULUMI_K8S_\w+ .*\"true\"", re.DOTALL
)
_WARNING: Final = (
    "Its objects stay in the state. Do not set PULUMI_K8S_DELETE_UNREACHABLE while the cluster exists: it drops live "
    "objects from the state"
)
"""Instead of the Kubernetes plug-in's advice, which it repeats for every object of a cluster that does not answer."""


def plain(message: str) -> str:
    """Return a message of the engine without colour codes."""
    return _COLOUR.sub("", message)


def noted(content: bytes, note: str) -> bytes:
    """Return an event stream that says what its comparison left out, so that all who read it know."""
    lines = content.splitlines(keepends=True)
    for index, line in enumerate(lines):
        if b'"preludeEvent"' in line and line.endswith(b"\n"):
            event = json.loads(line)
            event["preludeEvent"]["config"][NOT_COMPARED] = note
            lines[index] = json.dumps(event).encode() + b"\n"
            break
    return b"".join(lines)


def read(content: bytes) -> Stream:
    """Parse a stream; never raises."""
    stream, problems = Stream(), list[str]()
    if len(content) > SIZE_MAX:
        problems.append(f"the event stream has {len(content):,} bytes; the limit is {SIZE_MAX:,}")
    else:
        problems += _read(content, stream)
    rest = len(problems) - INVALID_LINES_MAX
    stream.invalid_lines = [
        *problems[:INVALID_LINES_MAX],
        *([f"the event stream has {rest} more invalid lines"] if rest > 0 else []),
    ]
    return stream


def _read(content: bytes, stream: Stream) -> Iterator[str]:
    if not content.strip():
        yield "the event stream is empty"
        return
    lines, kind, expected = content.splitlines(keepends=True), "", 0
    for number, line in enumerate(lines, start=1):
        try:
            kind, sequence = _take(line, stream)
        except _InvalidLineError as error:
            yield f"line {number} of the event stream {error}"
            sequence = expected
        if sequence != expected:
            yield f"line {number} of the event stream is event {sequence}, expected {expected}"
        expected = sequence + 1
    if kind != "cancelEvent" or not lines[-1].endswith(b"\n"):
        yield "the event stream is truncated: its last event is not cancelEvent"
    if len(stream.summaries) != 1:
        count = len(stream.summaries) or "no"
        yield f"the event stream has {count} summaries, expected 1"


class _InvalidLineError(Exception):
    """A line is not a valid event."""


def _take(line: bytes, stream: Stream) -> tuple[str, int]:
    """Add the event of a line to ``stream``; return its kind and sequence number."""
    if len(line) > LINE_MAX:
        raise _InvalidLineError(f"has {len(line):,} bytes; the limit is {LINE_MAX:,}")
    try:
        event = from_json(line, allow_inf_nan=False)
    except ValueError:
        raise _InvalidLineError("is invalid JSON") from None
    kinds = list(event.keys() - _FRAME) if isinstance(event, dict) else []
    if len(kinds) != 1 or kinds[0] not in _KINDS or not isinstance(event.get("sequence"), int):
        raise _InvalidLineError("is not an event of a known type")
    shape, keep = _KINDS[kinds[0]]
    try:
        payload = shape.model_validate(event[kinds[0]])
    except ValidationError as error:
        places = sorted({".".join(map(str, problem["loc"][:3])) or "it" for problem in error.errors()[:3]})
        raise _InvalidLineError(f"is not a valid {kinds[0]}: check {', '.join(places)}") from None
    keep(stream, payload)
    return kinds[0], event["sequence"]


def _appended(name: str) -> Callable[[Stream, Any], None]:
    return lambda stream, payload: getattr(stream, name).append(payload)


def _keep_step(name: str) -> Callable[[Stream, Any], None]:
    def keep(stream: Stream, event: StepEvent) -> None:
        step = event.metadata
        if step.type != step.token:
            raise _InvalidLineError("has a resource with two types")
        getattr(stream, name).append(step)

    return keep


def _keep_diagnostic(stream: Stream, payload: Diagnostic) -> None:
    if payload.severity != "debug":
        stream.diagnostics.append(payload)


_FRAME: Final = frozenset({"sequence", "timestamp"})
_Keep = Callable[[Stream, Any], None]
_KINDS: Final[Mapping[str, tuple[type[Payload], _Keep]]] = {
    "resourcePreEvent": (StepEvent, _keep_step("steps")),
    "resOutputsEvent": (StepEvent, _keep_step("results")),
    "resOpFailedEvent": (StepEvent, _keep_step("failures")),
    "policyEvent": (PolicyMessage, _appended("said")),
    "policyRemediationEvent": (Remediation, _appended("remediations")),
    "policyAnalyzeSummaryEvent": (Judged, _appended("judged")),
    "policyAnalyzeStackSummaryEvent": (Judged, _appended("judged_stack")),
    "diagnosticEvent": (Diagnostic, _keep_diagnostic),
    "errorEvent": (Failure, lambda s, event: s.diagnostics.append(Diagnostic(message=event.error, severity=_ERROR))),
    "preludeEvent": (Prelude, lambda stream, event: stream.config.update(event.config)),
    "summaryEvent": (Summary, _appended("summaries")),
    **dict.fromkeys(
        (
            "cancelEvent",
            "stdoutEvent",
            "progressEvent",
            "policyLoadEvent",
            "policyRemediateSummaryEvent",
            "startDebuggingEvent",
        ),
        (Unread, lambda _stream, _event: None),
    ),
}
"""All event types of engine 3.272, and how each is stored:
https://github.com/pulumi/pulumi/blob/master/sdk/go/common/apitype/events.go.
"""
