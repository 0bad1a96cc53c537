"""Nuclio's values mean what the stack file says, in its own chart and in MLRun CE's."""

from dataclasses import replace
from typing import Any

import pytest

from components.contract.environments import PlatformProfile
from components.contract.systems import mlrun_ce
from components.contract.systems.nuclio import INGRESS_CLASSES, SERVICES, platform_settings, values
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices
from components.contract.taints import OWN_SPOT_TAINT
from support.platform_cluster import platform_cluster

PLAIN = SystemChoices(namespace="mlrun")


def content(cluster: PlatformCluster, choices: SystemChoices = PLAIN) -> dict[str, Any]:
    return values(cluster, choices).content


@pytest.mark.parametrize("places", [True, False])
def test_nuclio_in_mlrun_ce_is_told_the_same(places: bool) -> None:
    cluster, choices = platform_cluster(places=places), replace(PLAIN, ingress_class="nginx")
    own, inside = content(cluster, choices), mlrun_ce.values(cluster, choices).content["nuclio"]
    assert own.pop("dashboard").items() >= inside.pop("dashboard").items()
    assert own == inside


def test_without_a_taint_on_spot_nodes_there_is_no_list_of_tolerations() -> None:
    """Nuclio takes an empty list for a taint that keeps functions away, and leaves its affinity out."""
    untainted = platform_settings(platform_cluster(spot_taint=None))["preemptibleNodes"]
    assert "tolerations" not in untainted
    assert platform_settings(platform_cluster())["preemptibleNodes"]["tolerations"] == [OWN_SPOT_TAINT.toleration()]
    assert "preemptibleNodes" not in platform_settings(platform_cluster("spot"))


@pytest.mark.parametrize("without", [(), ("spot",)])
def test_the_tolerations_of_gpus_are_left_to_the_api_server(without: tuple[str, ...]) -> None:
    assert "gpuTolerations" not in platform_settings(platform_cluster(*without)).get("preemptibleNodes", {})


def test_before_1_36_each_service_is_placed_without_a_class_that_needs_a_mark() -> None:
    before, after = content(platform_cluster(places=False)), content(platform_cluster())
    for service in SERVICES:
        assert before[service.path]["nodeSelector"] == {"igz-clusters.io/role": "initial"}
        assert not {"podLabels", "priorityClassName"} & set(before[service.path])
        assert "nodeSelector" not in after.get(service.path, {})


def test_images_are_built_without_the_docker_of_the_node() -> None:
    assert content(platform_cluster())["dashboard"] == {"containerBuilderKind": "kaniko"}


def test_registry_and_ingress_class_are_named() -> None:
    choices = replace(PLAIN, registry="r.example.com/nuclio", registry_secret="pull", ingress_class="a")  # noqa: S106 a name
    found = content(platform_cluster(), choices)
    assert found["registry"] == {"pushPullUrl": "r.example.com/nuclio", "secretName": "pull"}
    assert found["dashboard"]["ingress"] == {"ingressClassName": "a"}
    assert found["platform"]["kube"]["defaultHTTPIngressClassName"] == "a"
    assert len(INGRESS_CLASSES) == 2


def test_a_registry_whose_images_admission_judges_is_noted() -> None:
    choices = replace(PLAIN, registry="r.example.com/nuclio")
    trusted = replace(platform_cluster(), platform_registries=("r.example.com",))
    assert any("HK-08" in note for note in values(platform_cluster(), choices).notes)
    assert not any("HK-08" in note for note in values(trusted, choices).notes)


def test_on_a_full_platform_the_installer_owns_nuclio() -> None:
    cluster = replace(platform_cluster(), profile=PlatformProfile.IGUAZIO)
    found = values(cluster, SystemChoices(namespace="default-tenant"))
    assert found.content == {"kube": platform_settings(cluster)}
    assert "Iguazio's support" in found.notes[0]
    assert found.next.startswith("kubectl -n default-tenant get ")
