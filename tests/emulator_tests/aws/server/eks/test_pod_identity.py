import json
from typing import Any

import pytest

from support.aws import refused
from support.eks_account import Account, pod_token, role

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


def conditional_role(home: Account, cluster: str, *accounts: str) -> str:
    """Make a role for accounts of the namespace vision in one cluster."""
    wanted = {
        "aws:RequestTag/eks-cluster-arn": f"arn:aws:eks:eu-west-1:111122223333:cluster/{cluster}",
        "aws:RequestTag/kubernetes-namespace": "vision",
        "aws:RequestTag/kubernetes-service-account": list(accounts),
    }
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "pods.eks.amazonaws.com"},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
        "Condition": {"StringEquals": wanted},
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    made = home.aws.api("iam").create_role(RoleName=f"{cluster}-vision", AssumeRolePolicyDocument=document)
    return str(made["Role"]["Arn"])


def test_a_pod_gets_the_credentials_of_its_accounts_role(home: Account, mine: str) -> None:
    role_arn = conditional_role(home, mine, "igz-jobs")
    made = associate(home, mine, namespace="vision", serviceAccount="igz-jobs", roleArn=role_arn)
    got = home.aws.api("eks-auth").assume_role_for_pod_identity(clusterName=mine, token=pod_token())
    assert got["subject"] == {"namespace": "vision", "serviceAccount": "igz-jobs"}
    assert got["podIdentityAssociation"]["associationId"] == made["associationId"]
    assert f":assumed-role/{mine}-vision/" in got["assumedRoleUser"]["arn"]
    assert got["credentials"]["sessionToken"]


def test_a_pod_of_another_account_or_namespace_gets_nothing(home: Account, mine: str) -> None:
    role_arn = conditional_role(home, mine, "igz-jobs")
    associate(home, mine, namespace="vision", serviceAccount="igz-jobs", roleArn=role_arn)
    auth = home.aws.api("eks-auth")
    for other in ("vision:default", "speech:igz-jobs"):
        with refused("ResourceNotFoundException"):
            auth.assume_role_for_pod_identity(clusterName=mine, token=pod_token(f"system:serviceaccount:{other}"))
    # An association alone is not enough: the role must trust the account too.
    associate(home, mine, namespace="speech", serviceAccount="igz-jobs", roleArn=role_arn)
    with refused("AccessDeniedException"):
        auth.assume_role_for_pod_identity(clusterName=mine, token=pod_token("system:serviceaccount:speech:igz-jobs"))


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"aud": ["https://kubernetes.default.svc"]}, "InvalidTokenException"),
        ({"subject": "system:node:ip-10-0-0-1"}, "InvalidTokenException"),
        ({"exp": 1}, "ExpiredTokenException"),
    ],
)
def test_a_token_is_one_of_pod_identity_and_not_expired(
    home: Account, mine: str, claims: dict[str, Any], code: str
) -> None:
    associate(home, mine, namespace="vision", serviceAccount="igz-jobs")
    with refused(code):
        home.aws.api("eks-auth").assume_role_for_pod_identity(clusterName=mine, token=pod_token(**claims))
