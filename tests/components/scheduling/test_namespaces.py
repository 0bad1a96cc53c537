import pytest

from components.contract.environments import Environment
from components.contract.namespaces import UserNamespace
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.scheduling.namespaces import UserNamespaceArgs, UserNamespaceObjects
from support.recorder import record


@pytest.mark.parametrize("core_services", [False, True])
@pytest.mark.parametrize("environment", Environment)
def test_no_limit_range_bounds_the_ratio_of_limits_to_requests(environment: Environment, core_services: bool) -> None:
    resources = DEFAULT_POD_RESOURCES[environment]
    choices = UserNamespace.model_validate({"coreServices": core_services})
    args = UserNamespaceArgs(choices=choices, groups=(), pod_resources=resources)

    def declare() -> None:
        UserNamespaceObjects("team", args)

    recorder = record(declare)
    (limit_range,) = recorder.of_type("kubernetes:core/v1:LimitRange").values()
    (limits,) = limit_range["spec"]["limits"]
    assert limits == {
        "type": "Container",
        "default": resources.limits.model_dump(),
        "defaultRequest": resources.requests.model_dump(),
    }
