"""An existing cluster is rehearsed with the admission that its program would find on the rehearsal's API server."""

from dataclasses import replace

import pytest

from infra.config.platform_cluster import platform_cluster
from support.shipped_stacks import changed, shipped
from workbench import stacks
from workbench.rehearsal.cluster.existing import PLACES, as_rehearsed
from workbench.rehearsal.cluster.objects import objects_of


def test_pods_of_an_existing_cluster_get_places_as_its_api_server_offers() -> None:
    stack, assumption = as_rehearsed(stacks.find("existing"))
    assert assumption == PLACES
    assert platform_cluster(stack.config).places_by_itself
    assert "MutatingAdmissionPolicy" in {each["kind"] for each in objects_of(stack)}
    assert stacks.find("existing").config == shipped("existing")


@pytest.mark.parametrize("said", [True, False])
def test_a_stack_file_that_says_what_the_cluster_offers_decides(said: bool) -> None:
    found = stacks.find("existing")
    cluster = found.config.cluster.model_dump(mode="json", by_alias=True)
    stack = replace(found, config=changed("existing", cluster={**cluster, "mutatingAdmission": said}))
    assert as_rehearsed(stack) == (stack, "")


@pytest.mark.parametrize("name", ["local", "dev", "aks-prod"])
def test_other_clusters_are_rehearsed_as_they_are(name: str) -> None:
    stack = stacks.find(name)
    assert as_rehearsed(stack) == (stack, "")
