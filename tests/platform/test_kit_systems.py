"""What `igz-clusters values` prints beside Helm values works on the API server, on what the charts made."""

from collections.abc import Iterator

import pytest

from components.contract.environments import Environment, PlatformProfile
from components.contract.systems import pipelines
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices
from components.contract.taints import OWN_SPOT_TAINT
from infra.config import CONFIG_KEY, parse
from support.api import path_of
from support.kit import Setting, shapes
from support.kit_site import KitSite, kit_site, stack

BEFORE = Setting(Environment.DEV, PlatformProfile.MLRUN_CE, "authors")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KitSite]:
    with kit_site(tmp_path_factory.mktemp(str(BEFORE)), BEFORE) as found:
        yield found


@pytest.mark.full
@pytest.mark.control_plane
def test_before_1_36_the_workflow_controller_of_mlrun_ce_runs_once_its_settings_are_applied(site: KitSite) -> None:
    """MLRun CE's chart fixes its class, so its pods are refused until the printed parts are on top of it."""
    shape = shapes()["workflow-controller"]
    user, groups = shape.author(BEFORE)
    made = shape.manifest(BEFORE, site.groups)
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {**made["metadata"], "name": pipelines.CONFIG_MAP},
    }
    for each in (made, {**config_map, "data": {"executor": "kept"}}):
        assert site.api.create(each, as_user=user, groups=groups, fieldManager="helm").accepted
    assert "PR-05" in site.follow(site.api.send("GET", path_of(made))).refused

    resources = parse(stack(BEFORE)["config"][CONFIG_KEY]).pod_resources
    cluster = PlatformCluster(
        groups=site.groups, spot_taint=OWN_SPOT_TAINT, pod_resources=resources, places_by_itself=False
    )
    for part in pipelines.values(cluster, SystemChoices(namespace=BEFORE.namespace)).content["items"]:
        answer = site.api.send(
            "APPLY", path_of(part), part, as_user=user, groups=groups, fieldManager="kubectl", force="true"
        )
        assert answer.accepted, answer.message

    assert site.placed(made) == {"initial"}
    assert site.api.send("GET", path_of(config_map)).body["data"].keys() == {"executor", "workflowDefaults"}
