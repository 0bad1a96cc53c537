import pytest

from components.contract.default_resources import limit_range_gives_limits
from components.contract.environments import Environment
from components.contract.placement import Placement, PlacementEngine
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.policy_choices import AdmissionMode
from components.scheduling.default_resources import DefaultResources, DefaultResourcesArgs
from support.recorder import record


@pytest.mark.parametrize(("engine", "count"), [(PlacementEngine.MUTATION, 2), (PlacementEngine.AUTHORS, 0)])
def test_resources_are_completed_where_the_api_server_can_mutate(engine: PlacementEngine, count: int) -> None:
    args = DefaultResourcesArgs(
        pod_resources=DEFAULT_POD_RESOURCES[Environment.PROD], placement=Placement(engine=engine)
    )
    made = record(lambda: DefaultResources("defaults", args) and None).resources
    names = [each.inputs["metadata"]["name"] for each in made if each.type.startswith("kubernetes:")]
    assert names == ["igz-default-resources"] * count


def test_limit_ranges_give_limits_only_where_a_pod_without_would_be_refused() -> None:
    asked = {
        (environment, admission, mutates)
        for environment in Environment
        for admission in AdmissionMode
        for mutates in (False, True)
        if limit_range_gives_limits(environment, admission, mutates=mutates)
    }
    assert asked == {(Environment.PROD, AdmissionMode.DENY, False)}
