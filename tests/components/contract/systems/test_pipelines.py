"""Values of pipelines: steps run where jobs run, services where core services run."""

from itertools import product
from typing import Any

import pytest
import yaml

from components.contract.ownership import FIELD_MANAGER
from components.contract.systems.pipelines import values
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices
from components.contract.taints import OWN_SPOT_TAINT, Taint
from support.platform_cluster import platform_cluster
from support.recorded_keys import unknown

MLRUN = SystemChoices(namespace="mlrun")
OWN = SystemChoices(namespace="kubeflow", storage_class="ssd")


def patches(cluster: PlatformCluster) -> dict[str, Any]:
    """Return the content of each patch of the Kustomization, by its target."""
    content = values(cluster, OWN).content
    return {" ".join(each["target"].values()): yaml.safe_load(each["patch"]) for each in content["patches"]}


def defaults(cluster: PlatformCluster, choices: SystemChoices) -> dict[str, Any]:
    """Return the workflows' defaults."""
    if choices is OWN:
        (operation,) = patches(cluster)["ConfigMap workflow-controller-configmap"]
        assert (operation["op"], operation["path"]) == ("add", "/data/workflowDefaults")
        text = operation["value"]
    else:
        text = values(cluster, choices).content["items"][0]["data"]["workflowDefaults"]
    return dict(yaml.safe_load(text))


CLUSTERS = [
    platform_cluster(places=places, spot_taint=taint)
    for places, taint in product((True, False), (OWN_SPOT_TAINT, None))
]


@pytest.mark.parametrize(("told", "choices"), list(product(CLUSTERS, (MLRUN, OWN))))
def test_every_default_of_workflows_is_one_of_argo_s(told: PlatformCluster, choices: SystemChoices) -> None:
    assert unknown(defaults(told, choices), "pipelines", "workflowDefaults") == []
    assert unknown({"spec": {"priorityClassName": "a"}}, "pipelines", "workflowDefaults") != []


@pytest.mark.parametrize("choices", [MLRUN, OWN])
def test_steps_run_where_jobs_run_in_their_class(choices: SystemChoices) -> None:
    cluster = platform_cluster()
    spec = defaults(cluster, choices)["spec"]
    assert spec["nodeSelector"] == cluster.job_selector
    assert spec["podPriorityClassName"] == "igz-workload-medium"
    assert "tolerations" not in spec


@pytest.mark.parametrize(
    ("places", "taint", "stays"), [(False, None, True), (True, None, False), (False, OWN_SPOT_TAINT, False)]
)
def test_the_selector_keeps_steps_off_spot_nodes_where_nothing_else_does(
    places: bool, taint: Taint | None, stays: bool
) -> None:
    spec = defaults(platform_cluster(places=places, spot_taint=taint), MLRUN)["spec"]
    assert ("app.iguazio.com/lifecycle" in spec["nodeSelector"]) is stays


def test_the_defaults_of_the_manifests_are_kept() -> None:
    """The ConfigMap has them as one text, so a patch replaces all of it."""
    spec = defaults(platform_cluster(), OWN)["spec"]
    assert spec["ttlStrategy"]["secondsAfterCompletion"] == 3600
    assert spec["templateDefaults"] == {"retryStrategy": {"limit": "2", "retryPolicy": "OnError"}}
    assert "ttlStrategy" not in defaults(platform_cluster(), MLRUN)["spec"]


def test_before_1_36_the_workflow_controller_of_mlrun_ce_gets_place_class_and_mark() -> None:
    before = values(platform_cluster(places=False), MLRUN)
    _, controller = before.content["items"]
    template = controller["spec"]["template"]
    assert (controller["metadata"]["name"], controller["metadata"]["namespace"]) == ("workflow-controller", "mlrun")
    assert template["metadata"]["labels"] == {"igz-clusters.io/core-service": "true"}
    assert template["spec"]["priorityClassName"] == "igz-system-medium"
    assert any("after each" in note for note in before.notes)
    assert len(values(platform_cluster(), MLRUN).content["items"]) == 1


def test_the_objects_of_mlrun_ce_stay_its_own() -> None:
    """By our own field manager a run would take them for the stack's."""
    assert FIELD_MANAGER not in values(platform_cluster(), MLRUN).next


def test_before_1_36_every_service_of_the_manifests_is_placed_and_marked() -> None:
    before, after = patches(platform_cluster(places=False)), patches(platform_cluster())
    template = before["Deployment"]["spec"]["template"]
    assert template["spec"]["nodeSelector"] == {"igz-clusters.io/role": "initial"}
    assert template["metadata"]["labels"] == {"igz-clusters.io/core-service": "true"}
    assert "Deployment" not in after
    controller = after["Deployment workflow-controller"]["spec"]["template"]["spec"]
    assert controller == {"priorityClassName": "igz-system-medium"}


def test_the_manifests_make_no_priority_class() -> None:
    assert patches(platform_cluster())["PriorityClass workflow-controller"]["$patch"] == "delete"


def test_volumes_get_the_chosen_class() -> None:
    (operation,) = patches(platform_cluster())["PersistentVolumeClaim"]
    assert operation["value"] == "ssd"
    assert any(
        "no effect" in note
        for note in values(platform_cluster(), SystemChoices(namespace="mlrun", storage_class="ssd")).notes
    )
