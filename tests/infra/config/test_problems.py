from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError, ValidationInfo, field_validator

from components.contract.choices import ContractModel, Findings
from infra.config import Problem
from infra.config.problems import nearest, path_text, problems_of, shown


class Network(ContractModel):
    cidr: str


class Cloud(ContractModel):
    kind: Literal["cloud"]
    region: str
    network: Network
    zones: tuple[str, ...] = ()


class Bare(ContractModel):
    kind: Literal["bare"]
    hosts: dict[str, Annotated[int, Field(ge=1)]]


class Site(ContractModel):
    """Stands for a configuration whose union has several members."""

    cluster: Annotated[Cloud | Bare, Field(discriminator="kind")]
    total: int = Field(0, strict=True)

    @field_validator("cluster", mode="after")
    @classmethod
    def _finds_things_inside(cls, cluster: Cloud | Bare) -> Cloud | Bare:
        findings = Findings()
        if isinstance(cluster, Cloud) and cluster.region == "moon":
            findings.add("no air", "region", given=cluster.region, allowed=("earth",))
            findings.add("no water", "network", "cidr")
        findings.raise_if_any()
        return cluster

    @field_validator("total", mode="after")
    @classmethod
    def _needs_hosts(cls, total: int, info: ValidationInfo) -> int:
        if "cluster" in info.data and total == 13:
            raise ValueError("is unlucky")
        return total


def problems(document: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        Site.model_validate(document)
    return [str(problem) for problem in problems_of(caught.value, Site)]


CLOUD = {"kind": "cloud", "region": "here", "network": {"cidr": "10.0.0.0/16"}}


KEYS = "kind, region, network, zones"


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"kind": "clod"}, ".kind: unknown value, did you mean 'cloud'? (given: 'clod'; allowed: cloud, bare)"),
        ({"region": "here"}, ".kind: is required (allowed: cloud, bare)"),
        ({"kind": ["cloud"]}, ".kind: unknown value (given: a list; allowed: cloud, bare)"),
        ("cloud", ": must be a mapping whose kind is cloud or bare (given: 'cloud')"),
        ({**CLOUD, "hosts": {}}, f".hosts: unknown key (allowed: {KEYS})"),
        ({**CLOUD, "regoin": "x"}, f".regoin: unknown key, did you mean 'region'? (allowed: {KEYS})"),
        ({**CLOUD, "network": {}}, ".network.cidr: is required: text"),
        ({**CLOUD, "zones": ["a", 2]}, ".zones[1]: must be text; put it in quotes (given: 2)"),
        ({"kind": "bare", "hosts": {"cloud": 0}}, ".hosts.cloud: must be at least 1 (given: 0; allowed: 1 or more)"),
    ],
)
def test_paths_into_a_union_hold_only_what_the_user_wrote(choices: Any, said: str) -> None:
    assert problems({"cluster": choices}) == [f"cluster{said}"]


def test_a_check_may_find_several_things_deep_inside_its_value() -> None:
    assert problems({"cluster": {**CLOUD, "region": "moon"}}) == [
        "cluster.region: no air (given: 'moon'; allowed: earth)",
        "cluster.network.cidr: no water",
    ]


def test_a_check_that_reads_another_field_is_silent_when_that_field_is_wrong_itself() -> None:
    assert problems({"cluster": CLOUD, "total": 13}) == ["total: is unlucky (given: 13)"]
    assert problems({"cluster": {"kind": "cloud"}, "total": 13}) == [
        "cluster.region: is required: text",
        "cluster.network: is required: a mapping with the key cidr",
    ]


def validate_again(document: Any) -> None:
    findings = Findings()
    with findings.collect():
        Site.model_validate(document)
    findings.raise_if_any()


@pytest.mark.parametrize(
    "document",
    [
        {"cluster": {**CLOUD, "region": "moon"}, "total": "x"},
        {"cluster": {"kind": "bare", "hosts": {"a": 0, 1: 1}}, "total": 13, "more": 1},
        {"cluster": CLOUD, "total": 13},
    ],
)
def test_what_is_collected_and_raised_again_says_the_same(document: Any) -> None:
    with pytest.raises(ValidationError) as again:
        validate_again(document)
    assert [str(problem) for problem in problems_of(again.value, Site)] == problems(document)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "igz-clusters:stack"),
        (("pools", "gpu", "instanceTypes", 0), "pools.gpu.instanceTypes[0]"),
        (("labels", "a.b/c"), "labels['a.b/c']"),
        (("a\x1bb",), "['a\\x1bb']"),
        (("namespaces", ""), "namespaces['']"),
    ],
)
def test_paths_are_written_as_people_write_them(path: tuple[int | str, ...], text: str) -> None:
    assert path_text(path) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x" * 100, f"'{'x' * 60}'... (100 characters)"),
        ("http://ml:hunter2@proxy:3128", "'http://...@proxy:3128'"),
        ("ml:hunter2@mirror.corp.example/docker", "'...@mirror.corp.example/docker'"),
        ("http://ml:hun/ter2@proxy:3128", "'http://...@proxy:3128'"),
        ("http:/ml:hunter2@proxy", "'http:/...@proxy'"),
        ("//ml:hunter2@proxy", "'...@proxy'"),
        ("redis:7@sha256:0123", "'redis:7@sha256:0123'"),
        ("-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE", "a private key"),
        ({"password": "hunter2"}, "a mapping"),
        (["hunter2"], "a list"),
        (True, "true"),
        (None, "null"),
        (2**64, "a number of more than 18 digits"),
        ("\u202eevil\x1b[2J\r\n", r"'\u202eevil\x1b[2J\r\n'"),
    ],
)
def test_values_are_shown_short_printable_and_without_what_they_hold(value: Any, text: str) -> None:
    assert shown(value) == text


def test_a_number_too_long_for_python_to_print_is_shown_too() -> None:
    assert shown(-(16**9999)) == "a number of more than 18 digits"


def test_the_nearest_word_is_found_whatever_its_case() -> None:
    assert nearest("PROD", ["dev", "prod"]) == "prod"
    assert nearest("quantum", ["dev", "prod"]) is None
    assert nearest(3, ["dev", "prod"]) is None


parts = st.text(max_size=200) | st.integers()


@given(
    st.lists(parts, max_size=4).map(tuple),
    st.text(max_size=500),
    st.text(max_size=200),
    st.lists(st.text(), max_size=30),
)
def test_a_problem_is_one_printable_line_of_bounded_length(
    path: tuple[int | str, ...], message: str, value: str, allowed: list[str]
) -> None:
    line = str(Problem(path, message, shown(value), tuple(allowed)))
    assert line.isprintable()
    assert len(line) < 4000


def test_a_problem_of_the_whole_file_has_no_path() -> None:
    assert str(Problem(None, "the file is empty")) == "the file is empty"
