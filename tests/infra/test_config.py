from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.config import ConfigurationError, parse

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
MINIMAL = {
    "schemaVersion": 1,
    "environment": "dev",
    "cluster": {"kind": "local"},
    "pools": {"initial": {"role": "initial", "size": {"min": 1, "max": 1}, "instanceTypes": ["m6i.2xlarge"]}},
}


@pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])
def test_a_bad_stack_file_is_answered_with_all_its_problems(case: Path) -> None:
    document = yaml.safe_load(case.read_text())
    with pytest.raises(ConfigurationError) as caught:
        parse(document["given"])
    assert caught.value.problems == document["problems"]


def test_the_smallest_stack_file_gets_every_default() -> None:
    config = parse(MINIMAL)
    assert config.profile == "mlrun-ce"
    assert config.cluster.instance == "default"
    assert config.namespaces["mlrun"].core_services
    assert config.pod_resources.limits.memory == "4Gi"


def test_production_reserves_what_it_promises() -> None:
    pools = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}
    assert parse({**MINIMAL, "environment": "prod", "pools": pools}).pod_resources.is_guaranteed


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["schemaVersion", "environment", "cluster", "pools", "namespaces", "nonsense"]), json_values)
def test_no_value_anywhere_causes_anything_but_a_list_of_problems(key: str, value: object) -> None:
    try:
        parse({**MINIMAL, key: value})
    except ConfigurationError as error:
        assert error.problems
        assert all(": " in problem for problem in error.problems)
