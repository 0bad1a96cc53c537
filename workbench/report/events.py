"""Reads the engine's event stream: an event a line, written by whoever ran the engine, so believed in nothing.

What is read is typed. What cannot be read is damage: it is named, and the rest is read all the same. A stream is whole
if it has no damage; only of a whole one it can be said that something is not in it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import from_json

SIZE_MAX: Final = 64_000_000
"""Bytes of a stream; one of 3,000 resources has about 30 million."""

LINE_MAX: Final = 8_000_000
"""Bytes of an event."""

INVALID_LINES_MAX: Final = 10
"""Damages that are named; more are counted."""

STACK_TYPE: Final = "pulumi:pulumi:Stack"
"""Type of the resource that has the stack's outputs."""

RENDERED: Final = "igz-clusters:rendered"
"""Key that a render adds to the configuration, so that its event stream shows that nothing was compared."""

_ERRORS: Final = ("error", "info#err")
_COLOUR: Final = re.compile(r"<\{%[^%]*%\}>|\x1b\[[0-9;]*[A-Za-z]")
"""The engine's marks for colours, and a terminal's."""


class _Part(BaseModel):
    """A part of an event. Keys that nobody reads here may come and go with releases of the engine."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel)


def _or_empty(value: Any) -> Any:
    return {} if value is None else value  # how Go writes an empty map


_Properties = Annotated[dict[str, Any], BeforeValidator(_or_empty)]


class State(_Part):
    """A resource before or after a step."""

    urn: str
    custom: bool = False
    """False for a component."""
    delete: bool = False
    """Left over by a replacement, and still to be deleted."""
    protect: bool = False
    inputs: _Properties
    outputs: _Properties


class PropertyDiff(_Part):
    """How a property differs."""

    kind: Literal["add", "add-replace", "delete", "delete-replace", "update", "update-replace"] = Field(
        alias="diffKind"
    )


Op = Literal[
    "same",
    "create",
    "update",
    "delete",
    "replace",
    "create-replacement",
    "delete-replaced",
    "read",
    "read-replacement",
    "refresh",
    "discard",
    "discard-replaced",
    "remove-pending-replace",
    "import",
    "import-replacement",
]
"""What the engine does to a resource in a step."""


class Step(_Part):
    """A step that the engine plans or did."""

    op: Op
    urn: Annotated[str, Field(pattern=r"^urn:pulumi:[^:]+::[^:]+::[^:].*?::.")]
    type: str
    old: State | None
    new: State | None
    keys: list[str] | None = None
    """Properties that force a replacement."""
    diffs: list[str] | None = None
    """Properties that differ, where the provider tells no more."""
    detailed_diff: dict[str, PropertyDiff] | None = None
    """Differences by path."""

    @property
    def stack(self) -> str:
        """Name of the stack."""
        return self.urn.split("::", 1)[0].removeprefix("urn:pulumi:")

    @property
    def token(self) -> str:
        """Type token, by the URN."""
        return self.urn.split("::", 3)[2].rpartition("$")[2]

    @property
    def name(self) -> str:
        """Logical name."""
        return self.urn.split("::", 3)[3]

    @property
    def is_component(self) -> bool:
        """Whether no provider makes it: a component, or the stack itself."""
        return not any(state.custom for state in (self.old, self.new) if state)


class _StepEvent(_Part):
    metadata: Step


class Diagnostic(_Part):
    """What the engine, a provider or the program says."""

    urn: str = ""
    message: str
    severity: str


class PolicyMessage(_Part):
    """What a rule says about a resource, or about the stack."""

    resource_urn: str = ""
    message: str
    policy_name: str
    policy_pack_name: str
    enforcement_level: str


class Remediation(_Part):
    """A rule mended a resource."""

    resource_urn: str = ""
    policy_name: str


class Judged(_Part):
    """Which rules of a pack judged a resource, or the stack."""

    resource_urn: str = ""
    policy_pack_name: str
    passed: list[str] = []
    failed: list[str] = []


class _Prelude(_Part):
    config: dict[str, str]


class Summary(_Part):
    """The engine's account of its run."""

    maybe_corrupt: bool = False
    is_preview: bool
    result: str
    policy_packs: Annotated[dict[str, str], BeforeValidator(_or_empty)] = Field({}, alias="PolicyPacks")


class _Failure(_Part):
    error: str


class _Unread(_Part):
    """An event that says nothing about resources."""


@dataclass
class Stream:
    """What an event stream says.

    Parameters
    ----------
    steps
        What the engine planned or did, in order, before each step.
    results
        The same after each step, with outputs; of a refresh with what it came to.
    failures
        Steps that went wrong.
    said, judged, judged_stack, remediations
        What rules said; which rules judged which resource; which judged the whole stack; what they mended.
    diagnostics
        What was said otherwise, without the engine's own notes for finding bugs.
    config
        The stack's configuration, as text.
    summaries
        The engine's account, one in a whole stream.
    invalid_lines
        Why it is not whole; empty if it is.
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
        """The engine's account; None where there is none, or more than one."""
        return self.summaries[0] if len(self.summaries) == 1 else None

    @property
    def errors(self) -> list[str]:
        """What was said as an error, by the engine or by the program on its way down, without marks for colours."""
        texts = (plain(found.message).strip() for found in self.diagnostics if found.severity in _ERRORS)
        return [text for text in dict.fromkeys(texts) if text]


def plain(message: str) -> str:
    """Return a message of the engine without marks for colours."""
    return _COLOUR.sub("", message)


def read(content: bytes) -> Stream:
    """Return what a stream says; never raises, whatever is in it."""
    stream, found = Stream(), list[str]()
    if len(content) > SIZE_MAX:
        found.append(f"the event stream has {len(content):,} bytes, at most {SIZE_MAX:,} are read")
    else:
        found += _read(content, stream)
    rest = len(found) - INVALID_LINES_MAX
    stream.invalid_lines = [
        *found[:INVALID_LINES_MAX],
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
            yield f"line {number} of the event stream is event {sequence}, wanted {expected}"
        expected = sequence + 1
    if kind != "cancelEvent" or not lines[-1].endswith(b"\n"):
        yield "the event stream is cut: its last event is not the one that ends it"
    if len(stream.summaries) != 1:
        count = len(stream.summaries) or "no"
        yield f"the event stream has {count} summaries, wanted 1"


class _InvalidLineError(Exception):
    """A line that is no event."""


def _take(line: bytes, stream: Stream) -> tuple[str, int]:
    """Add the event of a line to ``stream``, and return its kind and number."""
    if len(line) > LINE_MAX:
        raise _InvalidLineError(f"has {len(line):,} bytes, at most {LINE_MAX:,} are read")
    try:
        event = from_json(line, allow_inf_nan=False)
    except ValueError:
        raise _InvalidLineError("is no JSON") from None
    kinds = list(event.keys() - _FRAME) if isinstance(event, dict) else []
    if len(kinds) != 1 or kinds[0] not in _KINDS or not isinstance(event.get("sequence"), int):
        raise _InvalidLineError("is no event of a known kind")
    shape, keep = _KINDS[kinds[0]]
    try:
        part = shape.model_validate(event[kinds[0]])
    except ValidationError as error:
        places = sorted({".".join(map(str, problem["loc"][:3])) or "it" for problem in error.errors()[:3]})
        raise _InvalidLineError(f"is no {kinds[0]} as the engine writes it: look at {', '.join(places)}") from None
    keep(stream, part)
    return kinds[0], event["sequence"]


def _appended(name: str) -> Callable[[Stream, Any], None]:
    return lambda stream, part: getattr(stream, name).append(part)


def _keep_step(name: str) -> Callable[[Stream, Any], None]:
    def keep(stream: Stream, event: _StepEvent) -> None:
        step = event.metadata
        if step.type != step.token:
            raise _InvalidLineError("has a resource of two types")
        getattr(stream, name).append(step)

    return keep


def _keep_diagnostic(stream: Stream, part: Diagnostic) -> None:
    if part.severity != "debug":
        stream.diagnostics.append(part)


_FRAME: Final = frozenset({"sequence", "timestamp"})
_Keep = Callable[[Stream, Any], None]
_KINDS: Final[Mapping[str, tuple[type[_Part], _Keep]]] = {
    "resourcePreEvent": (_StepEvent, _keep_step("steps")),
    "resOutputsEvent": (_StepEvent, _keep_step("results")),
    "resOpFailedEvent": (_StepEvent, _keep_step("failures")),
    "policyEvent": (PolicyMessage, _appended("said")),
    "policyRemediationEvent": (Remediation, _appended("remediations")),
    "policyAnalyzeSummaryEvent": (Judged, _appended("judged")),
    "policyAnalyzeStackSummaryEvent": (Judged, _appended("judged_stack")),
    "diagnosticEvent": (Diagnostic, _keep_diagnostic),
    "errorEvent": (_Failure, lambda s, part: s.diagnostics.append(Diagnostic(message=part.error, severity="error"))),
    "preludeEvent": (_Prelude, lambda stream, part: stream.config.update(part.config)),
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
        (_Unread, lambda _stream, _part: None),
    ),
}
"""All kinds of events of the engine 3.272, and what is kept of each:
https://github.com/pulumi/pulumi/blob/master/sdk/go/common/apitype/events.go.
"""
