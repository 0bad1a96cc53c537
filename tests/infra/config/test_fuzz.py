"""Whatever a stack file says, the answer is a configuration or a list of problems."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.config import CONFIG_KEY, ConfigurationError, parse
from workbench import stacks
from workbench.system.paths import PROJECT_ROOT

LINE_MAX = 4000
WHOLE = yaml.safe_load((PROJECT_ROOT / "Pulumi.local.yaml").read_text())["config"][CONFIG_KEY] | {
    "profile": "iguazio",
    "servers": "pulumi",
    "namespaces": {
        "jobs": {
            "quota": {"cpu": "64", "memory": "256Gi", "gpus": 2},
            "egress": [{"reason": "store", "cidrs": ["10.8.0.0/24"], "ports": [443], "protocol": "TCP"}],
            "egressCidrs": ["10.0.0.0/16", "fd00::/8"],
            "apiServerCidrs": ["10.96.0.1/32"],
        }
    },
    "people": {
        "itAdmins": {"groups": ["ops"], "users": ["jane@example.com"]},
        "dataScientists": {"jobs": {"groups": ["ml"]}},
        "ci": {"reads": {"groups": ["verify"]}, "applies": {"jobs": {"users": ["robot"]}}},
    },
    "defaultPodResources": {
        "requests": {"cpu": "500m", "memory": "1Gi"},
        "limits": {"cpu": "2", "memory": "4Gi"},
    },
}
WHOLE["pools"]["gpu"] |= {"labels": {"team": "vision", "example.com/tier": "1"}, "gpuResource": "amd.com/gpu"}
"""A configuration that uses every key."""

Place = tuple[str | int, ...]

odd_text = st.text(max_size=8) | st.sampled_from(
    [
        "\x1b[31m",
        "\u202e",
        "\x00",
        "x" * 100_000,
        "\ud800",
        "initial",
        "prod",
        "1Gi",
        "1e9",
        "-1",
        "10.0.0.1/8",
        "k8s.io/x",
    ]
)
odd_numbers = st.sampled_from([0, -1, 1, 450, 451, 1000, 1001, 2**63, 10**400, 0.5, float("nan"), float("inf"), -0.0])
odd_values = st.recursive(
    st.none() | st.booleans() | odd_numbers | st.integers() | odd_text | st.binary(max_size=4) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(odd_text | st.integers() | st.none(), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*place, key)
        yield from places(entry, (*place, key))


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """Return the whole configuration with one to four places replaced, dropped, renamed, doubled, swapped or added."""
    document = copy.deepcopy(WHOLE)
    for _ in range(draw(st.integers(1, 4))):
        known = list(places(document))
        if not known:
            break
        *parents, last = draw(st.sampled_from(known))
        inside: Any = document
        for key in parents:
            inside = inside[key]
        match draw(st.sampled_from(["replace", "drop", "rename", "emulator", "swap", "add"])):
            case "drop":
                del inside[last]
            case "rename" if isinstance(inside, dict):
                inside[draw(odd_text)] = inside.pop(last)
            case "emulator":
                where = draw(odd_text) if isinstance(inside, dict) else 0
                inside[where] = copy.deepcopy(inside[last])
            case "swap":
                other = draw(st.sampled_from(list(inside) if isinstance(inside, dict) else range(len(inside))))
                inside[last], inside[other] = inside[other], inside[last]
            case "add" if isinstance(inside, dict):
                inside[draw(odd_text | st.integers() | st.none())] = draw(odd_values)
            case _:
                inside[last] = draw(odd_values)
    return document


def assert_fit_to_print(lines: list[str]) -> None:
    assert lines
    assert [line for line in lines if not line.isprintable() or len(line) > LINE_MAX] == []


def test_the_configuration_that_is_damaged_is_sound_and_uses_every_key() -> None:
    parse(WHOLE)


@pytest.mark.parametrize("runs", [600, pytest.param(3000, marks=pytest.mark.full)])
def test_a_damaged_configuration_gives_problems_and_never_another_error(runs: int) -> None:
    @settings(max_examples=runs, deadline=None)
    @given(damaged())
    def run(document: Any) -> None:
        try:
            parse(document)
        except ConfigurationError as error:
            assert_fit_to_print([str(problem) for problem in error.problems])

    run()


@settings(max_examples=500, deadline=None)
@given(odd_values)
def test_any_value_at_all_in_its_place_gives_problems(document: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse(document)
    assert_fit_to_print([str(problem) for problem in caught.value.problems])


TEXT = yaml.safe_dump({"config": {CONFIG_KEY: WHOLE}}, sort_keys=False)
SYNTAX = [
    "\t",
    "\x07",
    "\u2028",
    "\n",
    ": ",
    "- ",
    "{",
    "[",
    "]",
    "}",
    "|\n",
    ">-\n",
    "'",
    '"',
    "? ",
    "#",
    "@",
    "`",
    "~",
]
ANCHORS = ["&a ", "*a", "<<: *a", "---\n", "...\n", "%YAML 9.9\n", "\ufeff", "- " * 30]
SCALARS = ["2026-13-99", "0o9", "1:99", "0x", "0b", "9" * 5000, "0x" + "f" * 5000]
TAGS = [
    f"{tag} x" for tag in ("!x", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!binary", "!!map", "!<y>")
]
SNIPPETS = st.sampled_from([*SYNTAX, *ANCHORS, *SCALARS, *TAGS]) | st.text(max_size=4)


@st.composite
def damaged_text(draw: st.DrawFn) -> bytes:
    """Return the text of a sound stack file with pieces cut out, put in, moved or doubled."""
    text = TEXT
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        piece = draw(SNIPPETS | st.just(text[start:end] * 2) | st.just(""))
        text = text[:start] + piece + text[end:]
    content = text.encode("utf-8", "surrogatepass")
    return content + draw(st.sampled_from([b"", b"", b"", b"\xff", b"\xc3"]))


@pytest.mark.parametrize("runs", [300, pytest.param(1500, marks=pytest.mark.full)])
def test_a_damaged_file_gives_problems_with_lines_and_never_another_error(tmp_path: Path, runs: int) -> None:
    file = tmp_path / "Pulumi.damaged.yaml"

    @settings(max_examples=runs, deadline=None)
    @given(damaged_text())
    def run(content: bytes) -> None:
        file.write_bytes(content)
        try:
            stacks.read(file)
        except stacks.StackFileError as error:
            assert_fit_to_print(error.lines)
            assert all(problem.line for problem in error.problems)

    run()
