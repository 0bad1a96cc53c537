import pytest

from components.contract.environments import Environment
from components.contract.namespaces import UserNamespace
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
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
