import json
from typing import Any

import pytest

from emulators.core.faults import FailedRule, Issue
from support.aws import refused
from support.eks_account import Account
from support.minors import CHOSEN

SELECTOR = {"igz-clusters.io/role": "initial"}
CONFIGURED = json.dumps({"nodeSelector": SELECTOR})


@pytest.fixture
def mine(home: Account) -> str:
    return home.cluster()


def add(home: Account, mine: str, name: str, **args: Any) -> dict[str, Any]:
    made: dict[str, Any] = home.eks.create_addon(clusterName=mine, addonName=name, **args)["addon"]
    return made


def test_an_addon_on_every_node_is_well_without_any(home: Account, mine: str) -> None:
    made = add(home, mine, "vpc-cni", configurationValues='{"enableNetworkPolicy": "true"}', tags={"a": "b"})
    assert made["status"] == "CREATING"
    found = home.read_addon(mine, "vpc-cni")
    assert found["status"] == "ACTIVE"
    assert found["configurationValues"] == '{"enableNetworkPolicy": "true"}'
    assert found["tags"] == {"a": "b"}
    assert found["addonArn"].startswith(f"arn:aws:eks:eu-west-1:111122223333:addon/{mine}/vpc-cni/")


def test_an_addon_of_pods_waits_for_a_node_that_takes_them(home: Account, mine: str) -> None:
    add(home, mine, "coredns", configurationValues=CONFIGURED)
    found = home.read_addon(mine, "coredns")
    assert found["status"] == "DEGRADED"
    assert found["health"]["issues"][0]["code"] == "InsufficientNumberOfReplicas"
    taint = {"key": "spot", "value": "true", "effect": "NO_SCHEDULE"}
    home.group(mine)
    home.group(mine, labels=SELECTOR, taints=[taint])
    home.group(mine, labels=SELECTOR, scalingConfig={"minSize": 0, "maxSize": 1, "desiredSize": 0})
    assert home.read_addon(mine, "coredns")["status"] == "DEGRADED"
    group = home.group(mine, labels=SELECTOR)
    assert home.read_addon(mine, "coredns")["status"] == "ACTIVE"
    home.eks.delete_nodegroup(clusterName=mine, nodegroupName=group)
    assert home.read_addon(mine, "coredns")["status"] == "DEGRADED"


def test_the_selector_of_a_controller_counts_too(home: Account, mine: str) -> None:
    add(home, mine, "aws-ebs-csi-driver", configurationValues=json.dumps({"controller": {"nodeSelector": SELECTOR}}))
    home.group(mine)
    assert home.read_addon(mine, "aws-ebs-csi-driver")["status"] == "DEGRADED"
    home.group(mine, labels=SELECTOR)
    assert home.read_addon(mine, "aws-ebs-csi-driver")["status"] == "ACTIVE"


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("flannel", {}, "Addon specified is not supported"),
        ("vpc-cni", {"addonVersion": "latest"}, "Addon version specified is not supported"),
        ("kube-proxy", {"addonVersion": f"v{CHOSEN}.0-eksbuild.1"}, "Addon version specified is not supported"),
        ("vpc-cni", {"configurationValues": "{"}, "not in valid JSON or YAML"),
        ("vpc-cni", {"configurationValues": "[]x"}, "not in valid JSON or YAML"),
        ("vpc-cni", {"configurationValues": "text"}, "an object is required"),
    ],
)
def test_what_does_not_exist_or_fit_is_refused(
    home: Account, mine: str, name: str, args: dict[str, Any], words: str
) -> None:
    with refused("InvalidParameterException") as caught:
        add(home, mine, name, **args)
    assert words in str(caught.value)
    assert home.eks.list_addons(clusterName=mine)["addons"] == []


def test_an_addon_is_there_once(home: Account, mine: str) -> None:
    add(home, mine, "vpc-cni")
    with refused("ResourceInUseException"):
        add(home, mine, "vpc-cni")


def test_an_unmanaged_copy_is_overwritten_or_in_the_way(home: Account) -> None:
    mine = home.cluster(bootstrapSelfManagedAddons=True)
    add(home, mine, "vpc-cni", resolveConflicts="OVERWRITE")
    assert home.read_addon(mine, "vpc-cni")["status"] == "ACTIVE"
    add(home, mine, "kube-proxy")
    found = home.read_addon(mine, "kube-proxy")
    assert found["status"] == "CREATE_FAILED"
    assert found["health"]["issues"][0]["code"] == "ConfigurationConflict"


def test_the_roles_of_an_addon_are_associations_that_it_owns(home: Account, mine: str) -> None:
    wanted = [{"serviceAccount": "aws-node", "roleArn": home.pod_role}]
    made = add(home, mine, "vpc-cni", podIdentityAssociations=wanted)
    (short,) = home.eks.list_pod_identity_associations(clusterName=mine)["associations"]
    assert made["podIdentityAssociations"] == [short["associationArn"]]
    assert (short["namespace"], short["serviceAccount"]) == ("kube-system", "aws-node")
    assert short["ownerArn"] == made["addonArn"]
    with refused("InvalidRequestException"):
        home.eks.delete_pod_identity_association(clusterName=mine, associationId=short["associationId"])
    home.eks.update_addon(clusterName=mine, addonName="vpc-cni", configurationValues="{}")
    assert home.read_addon(mine, "vpc-cni")["podIdentityAssociations"] == [short["associationArn"]]
    home.eks.update_addon(clusterName=mine, addonName="vpc-cni", podIdentityAssociations=[])
    assert home.eks.list_pod_identity_associations(clusterName=mine)["associations"] == []
    home.eks.update_addon(clusterName=mine, addonName="vpc-cni", podIdentityAssociations=wanted)
    home.eks.delete_addon(clusterName=mine, addonName="vpc-cni")
    assert home.eks.list_pod_identity_associations(clusterName=mine)["associations"] == []


def test_an_addon_with_a_namespace_of_its_own_has_its_associations_there(home: Account, mine: str) -> None:
    wanted = [{"serviceAccount": "external-dns", "roleArn": home.pod_role}]
    made = add(home, mine, "external-dns", podIdentityAssociations=wanted)
    (short,) = home.eks.list_pod_identity_associations(clusterName=mine)["associations"]
    assert (short["namespace"], short["ownerArn"]) == ("external-dns", made["addonArn"])
    home.eks.update_addon(clusterName=mine, addonName="external-dns", podIdentityAssociations=wanted)
    (short,) = home.eks.list_pod_identity_associations(clusterName=mine, namespace="external-dns")["associations"]
    home.eks.delete_addon(clusterName=mine, addonName="external-dns")
    assert home.eks.list_pod_identity_associations(clusterName=mine)["associations"] == []


def test_a_role_that_pods_cannot_assume_leaves_nothing_behind(home: Account, mine: str) -> None:
    wanted = [{"serviceAccount": "aws-node", "roleArn": home.node_role}]
    with refused("InvalidParameterException") as caught:
        add(home, mine, "vpc-cni", podIdentityAssociations=wanted)
    assert "Trust policy of the role provided is invalid" in str(caught.value)
    assert home.eks.list_addons(clusterName=mine)["addons"] == []
    assert home.eks.list_pod_identity_associations(clusterName=mine)["associations"] == []


def test_an_update_changes_what_it_names(home: Account, mine: str) -> None:
    add(home, mine, "vpc-cni", addonVersion="v1.20.4-eksbuild.2", configurationValues='{"a": 1}')
    update = home.eks.update_addon(
        clusterName=mine, addonName="vpc-cni", addonVersion="v1.21.1-eksbuild.1", resolveConflicts="OVERWRITE"
    )["update"]
    assert update["type"] == "AddonUpdate"
    found = home.read_addon(mine, "vpc-cni")
    assert (found["addonVersion"], found["configurationValues"]) == ("v1.21.1-eksbuild.1", '{"a": 1}')
    told = home.eks.describe_update(name=mine, addonName="vpc-cni", updateId=update["id"])["update"]
    assert told["status"] == "Successful"


def test_an_addon_has_one_update_at_a_time(home: Account, mine: str) -> None:
    add(home, mine, "vpc-cni")
    home.aws.set_scale(1)
    home.eks.update_addon(clusterName=mine, addonName="vpc-cni", configurationValues='{"a": 1}')
    assert home.read_addon(mine, "vpc-cni")["status"] == "UPDATING"
    with refused("ResourceInUseException") as caught:
        home.eks.update_addon(clusterName=mine, addonName="vpc-cni", configurationValues='{"a": 2}')
    assert "currently in UPDATING state" in str(caught.value)
    home.aws.advance(3600)
    assert home.read_addon(mine, "vpc-cni")["status"] == "ACTIVE"


def test_an_addon_whose_update_failed_can_be_updated_again(home: Account, mine: str) -> None:
    add(home, mine, "vpc-cni")
    issue = Issue(code="ConfigurationConflict", message="field manager")
    home.aws.set_faults(FailedRule(operation="eks:UpdateAddon", times=1, issues=(issue,)))
    for status in ("UPDATE_FAILED", "ACTIVE"):
        home.eks.update_addon(clusterName=mine, addonName="vpc-cni", configurationValues='{"a": 1}')
        assert home.read_addon(mine, "vpc-cni")["status"] == status


def test_an_addon_that_is_removed_is_gone(home: Account, mine: str) -> None:
    add(home, mine, "vpc-cni")
    assert home.eks.delete_addon(clusterName=mine, addonName="vpc-cni")["addon"]["status"] == "DELETING"
    with refused("ResourceNotFoundException"):
        home.read_addon(mine, "vpc-cni")


def test_a_preserved_addon_stays_in_the_cluster(home: Account, mine: str) -> None:
    add(home, mine, "vpc-cni")
    home.eks.delete_addon(clusterName=mine, addonName="vpc-cni", preserve=True)
    add(home, mine, "vpc-cni")
    assert home.read_addon(mine, "vpc-cni")["status"] == "CREATE_FAILED"
