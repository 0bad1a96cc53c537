import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.event_lines import events, kind, lines
from support.streams import FOLDER, stream
from workbench.report.events import INVALID_LINES_MAX, LINE_MAX, SIZE_MAX, read
from workbench.report.model import Source
from workbench.report.verdict import Case, judge

NAMES = sorted(file.name.partition(".")[0] for file in FOLDER.glob("*.xz"))
WHOLE = [name for name in NAMES if name != "killed"]


@pytest.mark.parametrize("name", WHOLE)
def test_what_the_engine_wrote_to_its_end_is_whole(name: str) -> None:
    found = read(stream(name))
    assert found.invalid_lines == []
    assert found.summary
    assert len(found.steps) == stream(name).count(b'"resourcePreEvent":')


def test_a_killed_engine_leaves_a_cut_stream() -> None:
    assert read(stream("killed")).invalid_lines == [
        "the event stream is truncated: its last event is not cancelEvent",
        "the event stream has no summaries, expected 1",
    ]


def test_ten_megabytes_are_read_in_a_moment() -> None:
    one = events("larger")
    body = [event for event in one if "summaryEvent" not in event and "cancelEvent" not in event]
    content = lines([*body * 3, *(event for event in one if event not in body)])
    assert len(content) > 10_000_000
    before = time.process_time()
    assert read(content).invalid_lines == []
    assert time.process_time() - before < 5  # measured: 0.3 s


def number(value: Any, sequence: int = 0) -> bytes:
    return json.dumps({"sequence": sequence, "timestamp": 1, **value}).encode() + b"\n"


STEP = {
    "op": "create",
    "urn": "urn:pulumi:s::p::a:b/c:D::name",
    "type": "a:b/c:D",
    "old": None,
    "new": None,
    "detailedDiff": None,
}

LINES = {
    "nothing": (b"", "is empty"),
    "white space": (b"\n \n", "is empty"),
    "binary": (bytes(range(256)) * 10, "is invalid JSON"),
    "a list": (b"[]\n", "is not an event of a known type"),
    "a number": (b"1\n", "is not an event of a known type"),
    "no kind": (number({}), "is not an event of a known type"),
    "an unknown kind": (number({"resourceEvent": {}}), "is not an event of a known type"),
    "two kinds": (number({"cancelEvent": {}, "summaryEvent": {}}), "is not an event of a known type"),
    "no number": (b'{"cancelEvent": {}}\n', "is not an event of a known type"),
    "deep nesting": (b'{"cancelEvent":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "is invalid JSON"),
    "a half character": (b'{"sequence":0,"cancelEvent":{"a":"\\ud800"}}\n', "is invalid JSON"),
    "not a number": (b'{"sequence":0,"cancelEvent":{"a":NaN}}\n', "is invalid JSON"),
    "a body of another type": (number({"resourcePreEvent": 1}), "check it"),
    "a step without a URN": (number({"resourcePreEvent": {"metadata": STEP | {"urn": 1}}}), "check metadata.urn"),
    "a step with half a URN": (number({"resourcePreEvent": {"metadata": STEP | {"urn": "urn:x"}}}), "metadata.urn"),
    "an unknown step": (number({"resourcePreEvent": {"metadata": STEP | {"op": "nuke"}}}), "check metadata.op"),
    "a step of two types": (number({"resourcePreEvent": {"metadata": STEP | {"type": "x:y:Z"}}}), "with two types"),
    "a huge line": (b'{"a":"' + b"x" * LINE_MAX + b'"}\n', "bytes; the limit is 8,000,000"),
    "a huge stream": (b"x" * (SIZE_MAX + 1), "the limit is 64,000,000"),
    "a summary alone": (
        number({"summaryEvent": {"isPreview": True, "result": "succeeded"}}),
        "its last event is not cancelEvent",
    ),
    "the end alone": (number({"cancelEvent": {}}), "has no summaries"),
    "the end without its line's": (number({"cancelEvent": {}}).strip(), "is truncated"),
}


@pytest.mark.parametrize("case", LINES)
def test_what_is_no_event_is_named(case: str) -> None:
    content, said = LINES[case]
    assert any(said in damage for damage in read(content).invalid_lines), read(content).invalid_lines


def test_a_line_that_is_missing_shows() -> None:
    whole = stream("larger").splitlines(keepends=True)
    del whole[1000]
    assert read(b"".join(whole)).invalid_lines == ["line 1001 of the event stream is event 1001, expected 1000"]


def test_a_second_summary_shows() -> None:
    whole = events("unchanged")
    twice = [each for event in whole for each in ([event] * 2 if "summaryEvent" in event else [event])]
    assert read(lines(twice)).invalid_lines == ["the event stream has 2 summaries, expected 1"]


def test_many_damages_are_counted() -> None:
    invalid_lines = read(b"x\n" * 1000).invalid_lines
    assert len(invalid_lines) == INVALID_LINES_MAX + 1
    assert invalid_lines[-1] == "the event stream has 992 more invalid lines"


def test_what_is_said_for_finding_bugs_is_not_kept() -> None:
    said = {"message": "m" * 100, "color": "never", "severity": "debug"}
    content = b"".join(number({"diagnosticEvent": said}, index) for index in range(70_000))
    assert len(content) > 10_000_000
    assert read(content).diagnostics == []


LARGER = stream("larger").splitlines()
KEYS = st.lists(st.sampled_from(["metadata", "old", "new", "op", "inputs", "urn", "result"]), max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
)


@settings(deadline=None)
@given(st.integers(0, len(LARGER) - 1), KEYS, JSON)
def test_wrong_types_anywhere_never_raise(index: int, path: list[str], value: Any) -> None:
    event = json.loads(LARGER[index])
    here = event
    for key in [kind(event), *path[:-1]]:
        here = here[key] if isinstance(here.get(key), dict) else here
    here[path[-1] if path else kind(event)] = value
    damaged = read(lines([event]))
    assert damaged.invalid_lines
    judge(Case("prod", Source.COMPARED, damaged))


@given(st.binary())
def test_bytes_never_raise(content: bytes) -> None:
    assert read(content).invalid_lines


def test_the_plug_ins_advice_to_drop_objects_is_replaced_by_a_warning_and_said_once() -> None:
    advice = (
        "Preview failed: failed to read resource state due to unreachable cluster. If the cluster was deleted, you can "
        "remove this resource from Pulumi state by rerunning the operation with the PULUMI_K8S_DELETE_UNREACHABLE "
        'environment variable set to "true"'
    )
    event = {"diagnosticEvent": {"message": advice, "color": "never", "severity": "error"}}
    (error,) = read(b"".join(number(event, sequence) for sequence in range(48))).errors
    assert error.startswith(
        "Preview failed: failed to read resource state due to unreachable cluster. Its objects stay"
    )
    assert "Do not set PULUMI_K8S_DELETE_UNREACHABLE while the cluster exists" in error


def test_errors_of_the_engine_come_before_what_was_written_to_standard_error() -> None:
    said = [("info#err", "DeprecationWarning: old"), ("error", "no quota"), ("info#err", "no quota")]
    given = [{"diagnosticEvent": {"message": text, "color": "never", "severity": severity}} for severity, text in said]
    found = read(b"".join(number(each, sequence) for sequence, each in enumerate(given)))
    assert found.errors == ["no quota", "DeprecationWarning: old"]
    assert found.own_errors == ["no quota"]
