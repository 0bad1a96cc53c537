"""All that reads a stack file for the settings of systems reads the same."""

import pytest

from infra.config import StackConfig
from infra.config.platform_cluster import platform_cluster
from support.shipped_stacks import SHIPPED, changed, shipped


def existing(*, mutates: bool | None) -> StackConfig:
    cluster = shipped("existing").cluster.model_dump(mode="json", by_alias=True)
    return changed("existing", cluster={**cluster, "mutatingAdmission": mutates})


@pytest.mark.parametrize("name", SHIPPED)
def test_it_is_what_the_stack_file_says(name: str) -> None:
    config = shipped(name)
    found = platform_cluster(config)
    assert (found.groups, found.spot_taint, found.profile) == (config.groups, config.spot_taint, config.profile)
    assert (found.environment, found.pod_resources) == (config.environment, config.pod_resources)


def test_a_namespace_has_its_own_choices_for_mlrun() -> None:
    namespaces = {"mlrun": {"coreServices": True}, "team": {"coreServices": True, "mlrun": {"preemptionMode": "allow"}}}
    config = changed("local", namespaces=namespaces)
    assert platform_cluster(config, namespace="team").mlrun.preemption_mode == "allow"
    assert platform_cluster(config, namespace="mlrun").mlrun == config.platform.mlrun
    assert platform_cluster(config).mlrun == config.platform.mlrun


@pytest.mark.parametrize(("version", "places"), [("", True), ("1.36", True), ("1.35", False)])
def test_a_version_that_is_asked_for_counts_even_on_a_local_cluster(version: str, places: bool) -> None:
    assert platform_cluster(shipped("local"), version=version).places_by_itself is places


@pytest.mark.parametrize(
    ("said", "mutates", "places"), [(True, False, True), (False, True, False), (None, True, True), (None, False, False)]
)
def test_what_the_cluster_was_seen_to_do_counts_only_if_the_stack_file_says_nothing(
    said: bool | None,
    mutates: bool,
    places: bool,
) -> None:
    assert platform_cluster(existing(mutates=said), mutates=mutates).places_by_itself is places
