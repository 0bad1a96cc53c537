from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.config import ConfigurationError, parse
from infra.program import run
from support.recorder import record

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
    assert config.namespaces["mlrun"].core_services
    assert config.pod_resources.limits.memory == "4Gi"


def test_production_reserves_what_it_promises() -> None:
    pools = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}
    assert parse({**MINIMAL, "environment": "prod", "pools": pools}).pod_resources.is_guaranteed


def test_the_full_platform_leaves_spot_nodes_untainted_and_asks_for_a_lifecycle_selector() -> None:
    spot = {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 3}, "instanceTypes": ["m6i.2xlarge"]}
    pools = {**MINIMAL["pools"], "spot": spot}
    config = parse({**MINIMAL, "profile": "iguazio", "servers": "pulumi", "pools": pools})
    recorder = record(lambda: run(config, kubeconfig="/nowhere"))
    templates = recorder.of_type("kubernetes:core/v1:ConfigMap")["kwok-provider-templates"]["data"]["templates"]
    assert "NoSchedule" not in templates
    policies = recorder.of_type("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy")
    messages = [v["message"] for v in policies["igz-user-pods-on-user-pools"]["spec"]["validations"]]
    assert messages[-1].startswith("spot nodes carry no taint here: add nodeSelector app.iguazio.com/lifecycle: ")
    classes = recorder.of_type("kubernetes:scheduling.k8s.io/v1:PriorityClass")
    assert set(classes) == {"igz-workload-low", "igz-workload-medium", "igz-workload-high"}


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
