from typing import Any

import pytest

from components.contract.access import AccessLevel
from components.contract.eks.access import policy_arn
from support.aws import refused
from support.eks_account import Account, role

VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
EVERYWHERE = {"type": "cluster"}


@pytest.fixture
def mine(home: Account) -> str:
    return home.cluster()


@pytest.fixture
def principal(home: Account) -> str:
    return role(home.aws, "sts.amazonaws.com")


def enter(home: Account, mine: str, principal: str, **args: Any) -> dict[str, Any]:
    made: dict[str, Any] = home.eks.create_access_entry(clusterName=mine, principalArn=principal, **args)["accessEntry"]
    return made


def test_an_entry_is_read_back(home: Account, mine: str, principal: str) -> None:
    enter(home, mine, principal, kubernetesGroups=["team"], tags={"a": "b"}, type="STANDARD")
    found = home.eks.describe_access_entry(clusterName=mine, principalArn=principal)["accessEntry"]
    assert (found["kubernetesGroups"], found["tags"], found["type"]) == (["team"], {"a": "b"}, "STANDARD")
    name = principal.rpartition("/")[2]
    assert found["username"] == f"arn:aws:sts::111122223333:assumed-role/{name}/{{{{SessionName}}}}"
    assert found["accessEntryArn"].startswith(
        f"arn:aws:eks:eu-west-1:111122223333:access-entry/{mine}/role/111122223333/{name}/"
    )


def test_a_principal_has_one_entry(home: Account, mine: str, principal: str) -> None:
    enter(home, mine, principal)
    with refused("ResourceInUseException"):
        enter(home, mine, principal)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"kubernetesGroups": ["system:masters"]}, "cannot start with system:"),
        ({"type": "EC2_LINUX", "kubernetesGroups": ["team"]}, "for type STANDARD only"),
        ({"type": "ROOT"}, "type ROOT is not valid"),
    ],
)
def test_what_does_not_fit_is_refused(
    home: Account, mine: str, principal: str, args: dict[str, Any], words: str
) -> None:
    with refused("InvalidParameterException") as caught:
        enter(home, mine, principal, **args)
    assert words in str(caught.value)


def test_somebody_who_does_not_exist_has_no_access(home: Account, mine: str) -> None:
    with refused("InvalidParameterException") as caught:
        enter(home, mine, "arn:aws:iam::111122223333:role/nobody")
    assert "invalid principal" in str(caught.value)
    enter(home, mine, "arn:aws:iam::444455556666:role/in-another-account")


def test_a_cluster_with_the_config_map_alone_has_no_entries(home: Account, principal: str) -> None:
    mine = home.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})
    with refused("InvalidRequestException"):
        enter(home, mine, principal)
    with refused("InvalidRequestException"):
        home.eks.list_access_entries(clusterName=mine)


def test_the_creator_enters_only_if_asked_to(home: Account, mine: str) -> None:
    assert home.eks.list_access_entries(clusterName=mine)["accessEntries"] == []
    open_ = home.cluster(accessConfig={"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True})
    (creator,) = home.eks.list_access_entries(clusterName=open_)["accessEntries"]
    (policy,) = home.eks.list_associated_access_policies(clusterName=open_, principalArn=creator)[
        "associatedAccessPolicies"
    ]
    assert policy["policyArn"].endswith("/AmazonEKSClusterAdminPolicy")


def test_groups_change(home: Account, mine: str, principal: str) -> None:
    enter(home, mine, principal, kubernetesGroups=["a"])
    home.eks.update_access_entry(clusterName=mine, principalArn=principal, kubernetesGroups=["b"])
    found = home.eks.describe_access_entry(clusterName=mine, principalArn=principal)["accessEntry"]
    assert found["kubernetesGroups"] == ["b"]


def test_a_policy_comes_changes_its_scope_and_goes(home: Account, mine: str, principal: str) -> None:
    enter(home, mine, principal)
    about = {"clusterName": mine, "principalArn": principal}
    home.eks.associate_access_policy(**about, policyArn=VIEW, accessScope=EVERYWHERE)
    scope = {"type": "namespace", "namespaces": ["mlrun"]}
    told = home.eks.associate_access_policy(**about, policyArn=VIEW, accessScope=scope)
    assert told["associatedAccessPolicy"]["accessScope"] == scope
    (found,) = home.eks.list_associated_access_policies(**about)["associatedAccessPolicies"]
    assert (found["policyArn"], found["accessScope"]) == (VIEW, scope)
    assert home.eks.list_access_entries(clusterName=mine, associatedPolicyArn=VIEW)["accessEntries"] == [principal]
    home.eks.disassociate_access_policy(**about, policyArn=VIEW)
    assert home.eks.list_associated_access_policies(**about)["associatedAccessPolicies"] == []
    with refused("ResourceNotFoundException"):
        home.eks.disassociate_access_policy(**about, policyArn=VIEW)


@pytest.mark.parametrize(
    ("policy", "scope"),
    [
        (VIEW.replace("View", "Everything"), EVERYWHERE),
        (VIEW, {"type": "namespace"}),
        (VIEW, {"type": "cluster", "namespaces": ["mlrun"]}),
    ],
)
def test_a_strange_association_is_refused(
    home: Account, mine: str, principal: str, policy: str, scope: dict[str, Any]
) -> None:
    enter(home, mine, principal)
    with refused("InvalidParameterException"):
        home.eks.associate_access_policy(clusterName=mine, principalArn=principal, policyArn=policy, accessScope=scope)


def test_an_entry_goes_with_its_policies(home: Account, mine: str, principal: str) -> None:
    enter(home, mine, principal)
    home.eks.associate_access_policy(clusterName=mine, principalArn=principal, policyArn=VIEW, accessScope=EVERYWHERE)
    home.eks.delete_access_entry(clusterName=mine, principalArn=principal)
    with refused("ResourceNotFoundException"):
        home.eks.describe_access_entry(clusterName=mine, principalArn=principal)
    enter(home, mine, principal)
    found = home.eks.list_associated_access_policies(clusterName=mine, principalArn=principal)
    assert found["associatedAccessPolicies"] == []


def test_entries_of_nodes_take_no_policies(home: Account, mine: str) -> None:
    home.group(mine)
    with refused("InvalidParameterException") as caught:
        home.eks.associate_access_policy(
            clusterName=mine, principalArn=home.node_role, policyArn=VIEW, accessScope=EVERYWHERE
        )
    assert 'type of "STANDARD"' in str(caught.value)


def test_every_level_of_the_contract_is_a_policy(home: Account) -> None:
    known = {policy["arn"] for policy in home.eks.list_access_policies()["accessPolicies"]}
    assert {policy_arn(level) for level in AccessLevel} <= known
