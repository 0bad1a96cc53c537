from typing import Any

import pytest

from support.aws import refused
from support.eks_account import Account, role

ACCOUNT = {"namespace": "kube-system", "serviceAccount": "cluster-autoscaler"}


@pytest.fixture
def mine(home: Account) -> str:
    return home.cluster()


def associate(home: Account, mine: str, **args: Any) -> dict[str, Any]:
    wanted = {"clusterName": mine, "roleArn": home.pod_role, **ACCOUNT, **args}
    made: dict[str, Any] = home.eks.create_pod_identity_association(**wanted)["association"]
    return made


def test_an_association_is_read_back(home: Account, mine: str) -> None:
    made = associate(home, mine, tags={"a": "b"}, disableSessionTags=True)
    about = {"clusterName": mine, "associationId": made["associationId"]}
    found = home.eks.describe_pod_identity_association(**about)["association"]
    assert ACCOUNT.items() <= found.items()
    assert (found["roleArn"], found["tags"], found["disableSessionTags"]) == (home.pod_role, {"a": "b"}, True)
    assert made["associationId"].startswith("a-")
    assert made["associationArn"].endswith(f":podidentityassociation/{mine}/{made['associationId']}")


def test_a_service_account_has_one_role(home: Account, mine: str) -> None:
    made = associate(home, mine)
    with refused("ResourceInUseException") as caught:
        associate(home, mine)
    assert f"Association already exists: {made['associationId']}" in str(caught.value)


def test_a_role_must_trust_pod_identity(home: Account, mine: str) -> None:
    half = role(home.aws, "pods.eks.amazonaws.com")
    for strange in (home.node_role, half, "arn:aws:iam::111122223333:role/nobody"):
        with refused("InvalidParameterException"):
            associate(home, mine, roleArn=strange)


def test_associations_are_listed_by_namespace_and_account(home: Account, mine: str) -> None:
    first = associate(home, mine)
    second = associate(home, mine, namespace="mlrun", serviceAccount="api")

    def listed(**wanted: str) -> set[str]:
        found = home.eks.list_pod_identity_associations(clusterName=mine, **wanted)["associations"]
        return {each["associationId"] for each in found}

    assert listed() == {first["associationId"], second["associationId"]}
    assert listed(namespace="mlrun") == {second["associationId"]}
    assert listed(namespace="mlrun", serviceAccount="other") == set()


def test_the_role_changes_and_the_association_goes(home: Account, mine: str) -> None:
    about = {"clusterName": mine, "associationId": associate(home, mine)["associationId"]}
    other = role(home.aws, "pods.eks.amazonaws.com", ("sts:AssumeRole", "sts:TagSession"))
    home.eks.update_pod_identity_association(**about, roleArn=other)
    assert home.eks.describe_pod_identity_association(**about)["association"]["roleArn"] == other
    with refused("InvalidParameterException"):
        home.eks.update_pod_identity_association(**about, roleArn=home.node_role)
    home.eks.delete_pod_identity_association(**about)
    with refused("ResourceNotFoundException"):
        home.eks.describe_pod_identity_association(**about)


def test_an_addon_may_not_take_what_somebody_else_made(home: Account, mine: str) -> None:
    associate(home, mine, serviceAccount="aws-node")
    wanted = [{"serviceAccount": "aws-node", "roleArn": home.pod_role}]
    with refused("ResourceInUseException"):
        home.eks.create_addon(clusterName=mine, addonName="vpc-cni", podIdentityAssociations=wanted)
