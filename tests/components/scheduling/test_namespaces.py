import pytest

from components.contract.environments import Environment
from components.contract.groups import resolve_groups
from components.contract.namespaces import UserNamespace
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.policy_choices import AdmissionMode
from components.contract.pools import NodePool
from components.scheduling.namespaces import UserNamespaceArgs, UserNamespaceObjects
from support.recorder import record


@pytest.mark.parametrize("gives_limits", [False, True])
@pytest.mark.parametrize("environment", Environment)
def test_no_limit_range_bounds_the_ratio_of_limits_to_requests(environment: Environment, gives_limits: bool) -> None:
    resources = DEFAULT_POD_RESOURCES[environment]
    args = UserNamespaceArgs(choices=UserNamespace(), groups=(), pod_resources=resources, gives_limits=gives_limits)

    def declare() -> None:
        UserNamespaceObjects("team", args)

    recorder = record(declare)
    (limit_range,) = recorder.of_type("kubernetes:core/v1:LimitRange").values()
    (limits,) = limit_range["spec"]["limits"]
    assert limits == {
        "type": "Container",
        "defaultRequest": resources.requests.model_dump(),
        **({"default": resources.limits.model_dump()} if gives_limits else {}),
    }


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "amd.com/gpu"])
def test_a_quota_on_gpus_counts_those_of_resource_claims(resource: str) -> None:
    pool = {"role": "gpu", "size": {"min": 0, "max": 4}, "instanceTypes": ["g5.2xlarge"], "gpuResource": resource}
    groups = resolve_groups({"gpu": NodePool.model_validate(pool)}, None)
    choices = UserNamespace.model_validate({"quota": {"cpu": "64", "memory": "256Gi", "gpus": 2}})
    args = UserNamespaceArgs(choices=choices, groups=groups, pod_resources=DEFAULT_POD_RESOURCES[Environment.DEV])
    recorder = record(lambda: UserNamespaceObjects("team", args) and None)
    quota = recorder.of_type("kubernetes:core/v1:ResourceQuota")["team-requests"]
    vendor = resource.partition("/")[0]
    devices = "deviceclass.resource.k8s.io/devices"
    names = (f"requests.{resource}", f"gpu.{vendor}.{devices}", f"mig.{vendor}.{devices}")
    assert quota["spec"]["hard"] == {
        "requests.cpu": "64",
        "requests.memory": "256Gi",
        **dict.fromkeys(names, "2"),
    }


def test_a_quota_counts_shares_of_gpus_apart_from_whole_ones() -> None:
    whole = {"role": "gpu", "size": {"min": 0, "max": 4}, "instanceTypes": ["p5.48xlarge"]}
    pools = {
        "whole": whole,
        "turns": {**whole, "sharing": {"mode": "time-slicing", "replicas": 4}},
        "slices": {**whole, "sharing": {"mode": "mig", "profile": "1g.10gb"}},
    }
    groups = resolve_groups({name: NodePool.model_validate(pool) for name, pool in pools.items()})
    choices = UserNamespace.model_validate({"quota": {"cpu": "64", "memory": "256Gi", "gpus": 2, "gpuSlices": 16}})
    args = UserNamespaceArgs(choices=choices, groups=groups, pod_resources=DEFAULT_POD_RESOURCES[Environment.DEV])
    recorder = record(lambda: UserNamespaceObjects("team", args) and None)
    hard = recorder.of_type("kubernetes:core/v1:ResourceQuota")["team-requests"]["spec"]["hard"]
    assert {name: hard[name] for name in hard if name.startswith("requests.nvidia.com/")} == {
        "requests.nvidia.com/gpu": "2",
        "requests.nvidia.com/gpu.shared": "16",
        "requests.nvidia.com/mig-1g.10gb": "16",
    }


@pytest.mark.parametrize("admission", AdmissionMode)
def test_before_rejections_no_quota_rejects_pods_but_the_stack_files(admission: AdmissionMode) -> None:
    choices = UserNamespace.model_validate({"quota": {"cpu": "64", "memory": "256Gi"}})
    resources = DEFAULT_POD_RESOURCES[Environment.DEV]
    args = UserNamespaceArgs(choices=choices, groups=(), pod_resources=resources, admission=admission)
    recorder = record(lambda: UserNamespaceObjects("team", args) and None)
    found = {name.removeprefix("team-") for name in recorder.of_type("kubernetes:core/v1:ResourceQuota")}
    assert found == {"requests"} | ({"no-system-priority"} if admission is AdmissionMode.DENY else set())
