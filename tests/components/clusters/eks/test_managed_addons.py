import json

from components.clusters.eks.managed_addons import AFTER_NODES, BEFORE_NODES, NODE_MONITORING
from components.contract.eks.values import ADDONS
from support.eks import ADDON, CLUSTER, NODE_GROUP, build, built


def test_a_stack_file_may_name_a_version_of_exactly_the_add_ons_that_are_installed() -> None:
    assert [addon.name for addon in (*BEFORE_NODES, *AFTER_NODES, NODE_MONITORING)] == list(ADDONS)
    assert {addon["addonName"] for addon in built().of_type(ADDON).values()} == set(ADDONS)


def test_network_policies_are_enforced() -> None:
    said = json.loads(built().of_type(ADDON)["test-node-addons-vpc-cni"]["configurationValues"])
    assert said == {"enableNetworkPolicy": "true"}


def test_the_cni_gets_prefixes_before_the_nodes_on_demand_only() -> None:
    said = json.loads(
        build({"cluster.prefixDelegation": True}).of_type(ADDON)["test-node-addons-vpc-cni"]["configurationValues"]
    )
    env = {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"}
    assert said == {"enableNetworkPolicy": "true", "env": env}


def test_what_node_repair_reads_finds_a_place_on_gpu_nodes_whatever_their_taints() -> None:
    said = json.loads(built().of_type(ADDON)["test-addons-eks-node-monitoring-agent"]["configurationValues"])
    assert said == {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}


def test_a_stack_file_may_leave_the_monitoring_agent_out() -> None:
    without = build({"cluster.nodeMonitoring": False}).of_type(ADDON)
    assert built().of_type(ADDON).keys() - without.keys() == {"test-addons-eks-node-monitoring-agent"}


def test_what_changes_by_hand_goes_back_to_what_is_written() -> None:
    for addon in built().of_type(ADDON).values():
        assert (addon["resolveConflictsOnCreate"], addon["resolveConflictsOnUpdate"]) == ("OVERWRITE", "OVERWRITE")


def test_one_that_is_made_anew_goes_first_since_a_cluster_has_one_of_a_name() -> None:
    recorder = built()
    assert all(recorder.options[ADDON, name].delete_before_replace for name in recorder.of_type(ADDON))


def test_the_nodes_wait_for_what_runs_on_them_so_an_upgrade_keeps_that_order() -> None:
    recorder = built()
    for name in recorder.of_type(NODE_GROUP):
        before = {f"test-node-addons-{addon.name}" for addon in BEFORE_NODES}
        assert before <= {each for type_, each in recorder.needs((NODE_GROUP, name)) if type_ == ADDON}
    for name in recorder.of_type(ADDON):
        assert (CLUSTER, "test-cluster") in recorder.options[ADDON, name].made_from["clusterName"]


def test_a_named_version_is_installed_and_the_others_are_left_to_aws() -> None:
    addons = build({"cluster.addonVersions": {"vpc-cni": "v1.22.4-eksbuild.1"}}).of_type(ADDON)
    assert {name: a["addonVersion"] for name, a in addons.items() if "addonVersion" in a} == {
        "test-node-addons-vpc-cni": "v1.22.4-eksbuild.1"
    }
