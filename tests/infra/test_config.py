from typing import Any

import pytest

from components.contract.environments import Environment
from components.stack_files import yaml_source
from infra.config import ConfigurationError, parse
from infra.program import run
from support import stack_cases
from support.eks import document
from support.recorder import record

CASES = stack_cases.load()
MINIMAL = {
    "schemaVersion": 1,
    "environment": "dev",
    "cluster": {"kind": "local"},
    "pools": {"initial": {"role": "initial", "size": {"min": 1, "max": 1}, "instanceTypes": ["m6i.2xlarge"]}},
}
GPU = {"role": "gpu", "size": {"min": 0, "max": 1}, "instanceTypes": ["g5.2xlarge"]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_bad_stack_file_is_answered_with_all_its_problems(case: stack_cases.Case) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse(case.document)
    assert tuple(str(problem) for problem in caught.value.problems) == case.problems


@pytest.mark.parametrize(("name", "document"), stack_cases.bases().items())
def test_what_cases_are_like_is_a_good_stack_file(name: str, document: Any) -> None:
    assert parse(document).cluster.kind == name.partition("-")[0]


def test_there_is_a_bad_case_for_every_rule_that_the_configuration_enforces() -> None:
    said = [problem for case in CASES for problem in case.problems]
    rules = ("NG-02", "NG-05", "NG-06", "NG-07", "NG-08", "NG-16", "NG-21", "RS-02", "RS-03", "RS-05")
    assert [rule for rule in rules if not any(f" {rule}: " in problem for problem in said)] == []


def test_the_smallest_stack_file_gets_every_default() -> None:
    config = parse(MINIMAL)
    assert config.profile == "mlrun-ce"
    assert config.namespaces["mlrun"].core_services
    assert config.pod_resources.limits.memory == "4Gi"


def test_production_reserves_what_it_promises() -> None:
    pools = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}
    assert parse({**MINIMAL, "environment": "prod", "pools": pools}).pod_resources.is_guaranteed


@pytest.mark.parametrize(
    ("changes", "guard"),
    [({}, "warn"), ({"environment": "prod"}, "required"), ({"policyGuard": "required"}, "required")],
)
def test_the_guard_of_a_cloud_follows_the_environment_unless_somebody_chose(
    changes: dict[str, str], guard: str
) -> None:
    assert parse(document(changes)).policy_guard == guard


def test_a_local_cluster_is_guarded_only_where_somebody_chose_it() -> None:
    pools = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}
    prod = {**MINIMAL, "environment": "prod", "pools": pools}
    assert (parse(MINIMAL).policy_guard, parse(prod).policy_guard) == ("off", "off")
    assert parse({**prod, "policyGuard": "required"}).policy_guard == "required"


def test_a_plain_off_means_off() -> None:
    assert parse(document(yaml_source.parse("policyGuard: off").document)).policy_guard == "off"


def test_default_resources_that_are_given_win_over_the_environments() -> None:
    amounts = {"cpu": "3", "memory": "3Gi"}
    config = parse({**MINIMAL, "defaultPodResources": {"requests": amounts, "limits": amounts}})
    assert config.environment is Environment.DEV
    assert config.pod_resources.limits.cpu == "3"


def test_only_gpu_pools_have_a_gpu_resource() -> None:
    config = parse({**MINIMAL, "pools": {**MINIMAL["pools"], "gpu": GPU, "amd": {**GPU, "gpuResource": "amd.com/gpu"}}})
    assert {name: pool.gpu_resource for name, pool in config.pools.items()} == {
        "initial": None,
        "gpu": "nvidia.com/gpu",
        "amd": "amd.com/gpu",
    }


def test_the_full_platform_leaves_spot_nodes_untainted_and_asks_for_a_lifecycle_selector() -> None:
    spot = {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 3}, "instanceTypes": ["m6i.2xlarge"]}
    pools = {**MINIMAL["pools"], "spot": spot}
    config = parse({**MINIMAL, "profile": "iguazio", "servers": "pulumi", "pools": pools})
    recorder = record(lambda: run(config, kubeconfig="/nowhere"))
    templates = recorder.of_type("kubernetes:core/v1:ConfigMap")["kwok-provider-templates"]["data"]["templates"]
    assert "NoSchedule" not in templates
    policies = recorder.of_type("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy")
    messages = [v["message"] for v in policies["igz-user-pods-on-user-pools"]["spec"]["validations"]]
    assert messages[-1].startswith("spot nodes carry no taint here, so a pod must say whether it may use them: ")
    classes = recorder.of_type("kubernetes:scheduling.k8s.io/v1:PriorityClass")
    assert set(classes) == {"igz-workload-low", "igz-workload-medium", "igz-workload-high"}


@pytest.mark.parametrize(
    ("key", "number", "problem"),
    [
        ("pools", 500, "pools: has 507 entries, at most 200 are allowed (given: a mapping)"),
        ("namespaces", 300, "namespaces: has 300 entries, at most 200 are allowed (given: a mapping)"),
    ],
)
def test_a_number_of_pools_or_namespaces_that_can_only_be_a_mistake_is_refused(
    key: str, number: int, problem: str
) -> None:
    pool = {"role": "workload", "size": {"min": 0, "max": 1}, "instanceTypes": ["m6i.xlarge"]}
    more = {f"a{index}": pool if key == "pools" else {} for index in range(number)}
    with pytest.raises(ConfigurationError) as caught:
        parse(document({key: {**document().get(key, {}), **more}}))
    assert [str(each) for each in caught.value.problems] == [problem]


def test_settings_that_no_stack_file_holds_cannot_name_a_base() -> None:
    with pytest.raises(ConfigurationError, match=r"^base: names a base, which only a stack file can have; .*'acme'\)$"):
        parse({**MINIMAL, "base": "acme"})
