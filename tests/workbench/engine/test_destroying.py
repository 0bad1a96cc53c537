"""What keeps a stack from being destroyed, read from states of the real program."""

import json

import yaml

from support import aks_state
from support.eks_state import exported
from workbench.engine.cluster_components import kubeconfig_of
from workbench.engine.destroying import deletion_blockers, objects_of


def test_all_that_is_protected_is_named_with_the_way_to_lift_it() -> None:
    found = [str(each) for each in deletion_blockers(exported({"environment": "prod"}), "test")]
    for name in ("test-cluster", "test-cluster-secrets", "test-network-vpc"):
        (line,) = (each for each in found if each.startswith(f"- {name}: is protected"))
        assert "`pulumi state unprotect --stack test --yes 'urn:pulumi:test::" in line
        assert f"::{name}'`" in line
    assert any("`aws eks update-cluster-config --name research --no-deletion-protection`" in each for each in found)


def test_a_data_group_goes_by_hand_since_it_would_stay_and_keep_its_cluster() -> None:
    found = [str(each) for each in deletion_blockers(exported(), "test")]
    groups = [each for each in found if "delete-nodegroup" in each]
    assert len(groups) == 3
    assert "--nodegroup-name test-data-a-0a1b2c3" in groups[0]
    assert len(found) == len(groups) + 3, (
        "of a data pool the launch templates are protected too, and nothing else in dev"
    )


def test_a_data_pool_of_aks_goes_by_hand_since_it_would_go_with_its_cluster() -> None:
    found = [str(each) for each in deletion_blockers(aks_state.exported(), "test")]
    pools = [each for each in found if "az aks nodepool delete" in each]
    assert len(pools) == 3
    assert all("AKS deletes all pools of a cluster with it" in each for each in pools)
    assert "--resource-group research --cluster-name research --name data" in pools[0]


def test_nothing_is_kept_back_where_nothing_is_protected() -> None:
    assert deletion_blockers(exported({"pools.data": None}), "test") == []


def test_the_programs_own_objects_are_known_by_kind_namespace_and_name() -> None:
    objects = objects_of(exported({"namespaces": {"jobs": {}}}))
    assert ("namespace", "default", "jobs") in objects
    assert {kind for kind, namespace, _ in objects if namespace == "jobs"} >= {"resourcequota", "networkpolicy"}


def test_the_way_into_the_cluster_is_the_stacks_output_or_its_providers() -> None:
    state = exported()
    assert yaml.safe_load(kubeconfig_of(state) or "")["current-context"] == "research"
    state["resources"] = [each for each in state["resources"] if each["type"] != "pulumi:pulumi:Stack"]
    assert json.loads(kubeconfig_of(state) or "")["kind"] == "Config"
    assert kubeconfig_of({"resources": []}) is None
