"""What the engine sends as inputs, and what of it is refused."""

from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct

from components.contract.engine_marks import MARK, OUTPUT_KIND, SECRET_KIND, SENTINELS
from infra.config import ConfigurationError
from infra.package.inputs import NOT_FINITE, NOT_PLAIN, SECRET, UNKNOWN, plain_inputs

PASSWORD = "canary-of-a-secret"  # noqa: S105 it must never be shown


def bag(value: dict[str, Any]) -> Struct:
    return ParseDict(value, Struct())


def output(**parts: Any) -> dict[str, Any]:
    return {MARK: OUTPUT_KIND, "dependencies": ["urn:pulumi:x"], **parts}


def refused(value: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        plain_inputs(bag(value))
    assert PASSWORD not in str(caught.value)
    return [str(problem) for problem in caught.value.problems]


def test_plain_values_stay_and_whole_numbers_are_integers() -> None:
    given = {"a": 1.0, "b": [2, 0.5, True, None], "c": {"d.e/f": "04", "g": {}}}
    assert plain_inputs(bag(given)) == {"a": 1, "b": [2, 0.5, True, None], "c": {"d.e/f": "04", "g": {}}}
    assert isinstance(plain_inputs(bag(given))["a"], int)


def test_an_output_that_is_known_counts_as_its_value() -> None:
    given = {"cluster": output(value={"network": {"vpcId": output(value="vpc-1")}, "count": 3})}
    assert plain_inputs(bag(given)) == {"cluster": {"network": {"vpcId": "vpc-1"}, "count": 3}}


@pytest.mark.parametrize("unknown", [output(), *sorted(SENTINELS)])
def test_an_unknown_value_is_refused_at_its_path(unknown: Any) -> None:
    given = {"cluster": {"network": {"vpcId": unknown}}, "pools": {"gpu": {"instanceTypes": ["a", unknown]}}}
    assert refused(given) == [f"cluster.network.vpcId: {UNKNOWN}", f"pools.gpu.instanceTypes[1]: {UNKNOWN}"]


@pytest.mark.parametrize("mark", [{MARK: SECRET_KIND}, {MARK: OUTPUT_KIND, "secret": True, "dependencies": []}])
def test_a_secret_is_refused_at_its_path_and_not_shown(mark: dict[str, Any]) -> None:
    given = {
        "people": {"itAdmins": {"groups": [{**mark, "value": PASSWORD}]}},
        "pools": {**mark, "value": {"a": PASSWORD}},
    }
    assert refused(given) == [f"people.itAdmins.groups[0]: {SECRET}", f"pools: {SECRET}"]


def test_a_file_or_a_resource_is_refused_at_its_path() -> None:
    asset = {MARK: "c44067f5952c0a294b673a41bacd8c17", "text": PASSWORD}
    resource = {MARK: "5cf8f73096256a8f31e491e813e4eb8e", "urn": "urn:pulumi:x"}
    assert refused({"cluster": {"kubeconfig": asset, "name": resource}}) == [
        f"cluster.kubeconfig: {NOT_PLAIN}",
        f"cluster.name: {NOT_PLAIN}",
    ]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused_at_its_path(number: float) -> None:
    given = Struct()
    given.update({"pools": {"gpu": {"size": {"min": number}, "instanceTypes": ["a", number]}}})
    with pytest.raises(ConfigurationError) as caught:
        plain_inputs(given)
    assert [str(problem) for problem in caught.value.problems] == [
        f"pools.gpu.instanceTypes[1]: {NOT_FINITE}",
        f"pools.gpu.size.min: {NOT_FINITE}",
    ]


def test_all_are_reported_at_once() -> None:
    given = {"a": output(), "b": {MARK: SECRET_KIND, "value": PASSWORD}, "c": {"d": output(value=output())}}
    assert refused(given) == [f"a: {UNKNOWN}", f"b: {SECRET}", f"c.d: {UNKNOWN}"]
