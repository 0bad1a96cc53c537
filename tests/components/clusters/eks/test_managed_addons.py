import json

from components.clusters.eks.managed_addons import AFTER_NODES, BEFORE_NODES
from components.contract.eks import ADDONS
from support.eks import ADDON, build, built


def test_a_stack_file_may_name_a_version_of_exactly_the_add_ons_that_are_installed() -> None:
    assert [addon.name for addon in (*BEFORE_NODES, *AFTER_NODES)] == list(ADDONS)
    assert {addon["addonName"] for addon in built().of_type(ADDON).values()} == set(ADDONS)


def test_network_policies_are_enforced() -> None:
    said = json.loads(built().of_type(ADDON)["test-node-addons-vpc-cni"]["configurationValues"])
    assert said == {"enableNetworkPolicy": "true"}


def test_what_changes_by_hand_goes_back_to_what_is_written() -> None:
    for addon in built().of_type(ADDON).values():
        assert (addon["resolveConflictsOnCreate"], addon["resolveConflictsOnUpdate"]) == ("OVERWRITE", "OVERWRITE")


def test_a_named_version_is_installed_and_the_others_are_left_to_aws() -> None:
    addons = build({"cluster.addonVersions": {"vpc-cni": "v1.20.4-eksbuild.2"}}).of_type(ADDON)
    assert {name: a["addonVersion"] for name, a in addons.items() if "addonVersion" in a} == {
        "test-node-addons-vpc-cni": "v1.20.4-eksbuild.2"
    }
