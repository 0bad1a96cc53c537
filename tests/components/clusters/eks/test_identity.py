"""Roles have the least that they need, and there are no permanent keys."""

import json
from typing import Any

from support.eks import build, built

ROLE = "aws:iam/role:Role"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
POLICY = "aws:iam/rolePolicy:RolePolicy"


def trust(name: str) -> dict[str, Any]:
    (statement,) = json.loads(built("prod").of_type(ROLE)[name]["assumeRolePolicy"])["Statement"]
    return dict(statement)


def test_roles_and_their_policies_are_these_and_no_others() -> None:
    attached = {(a["role"], a["policyArn"].rpartition("/")[2]) for a in built("prod").of_type(ATTACHMENT).values()}
    assert attached == {
        ("test-cluster-role", "AmazonEKSClusterPolicy"),
        ("test-nodes", "AmazonEKSWorkerNodePolicy"),
        ("test-nodes", "AmazonEC2ContainerRegistryPullOnly"),
        ("test-node-addons-vpc-cni", "AmazonEKS_CNI_Policy"),
        ("test-addons-aws-ebs-csi-driver", "AmazonEBSCSIDriverPolicyV2"),
    }
    own = {"test-network-flow", "test-own-autoscaler"}
    assert {policy["role"] for policy in built("prod").of_type(POLICY).values()} == own
    assert set(built("prod").of_type(ROLE)) == {role for role, _ in attached} | own


def test_nodes_create_repositories_of_the_named_caches_only() -> None:
    policies = build({"cluster.imageCaches": ["k8s", "corp/quay"]}).of_type(POLICY)
    (statement,) = json.loads(policies["test-nodes"]["policy"])["Statement"]
    assert statement == {
        "Effect": "Allow",
        "Action": ["ecr:CreateRepository"],
        "Resource": [
            "arn:aws:ecr:eu-west-1:111122223333:repository/k8s/*",
            "arn:aws:ecr:eu-west-1:111122223333:repository/corp/quay/*",
        ],
    }


def test_a_pods_role_is_for_one_account_of_this_cluster() -> None:
    accounts = {
        "test-node-addons-vpc-cni": "aws-node",
        "test-addons-aws-ebs-csi-driver": "ebs-csi-controller-sa",
        "test-own-autoscaler": "cluster-autoscaler",
    }
    for name, account in accounts.items():
        assert trust(name)["Principal"] == {"Service": "pods.eks.amazonaws.com"}
        assert trust(name)["Condition"]["StringEquals"] == {
            "aws:RequestTag/eks-cluster-arn": "arn:aws:eks:eu-west-1:111122223333:cluster/research",
            "aws:RequestTag/kubernetes-namespace": "kube-system",
            "aws:RequestTag/kubernetes-service-account": account,
        }


def test_no_own_policy_has_a_wildcard_action_and_every_write_is_bound() -> None:
    for name, policy in built("prod").of_type(POLICY).items():
        for statement in json.loads(policy["policy"])["Statement"]:
            assert not [action for action in statement["Action"] if "*" in action], name
            writes = [a for a in statement["Action"] if not a.partition(":")[2].startswith(("Describe", "Get"))]
            assert not writes or statement["Resource"] != "*" or statement["Condition"], (name, writes)


def test_a_boundary_is_on_every_role() -> None:
    boundary = "arn:aws:iam::111122223333:policy/boundary"
    roles = build({"cluster.permissionsBoundaryArn": boundary, "environment": "prod"}).of_type(ROLE)
    assert {role.get("permissionsBoundary") for role in roles.values()} == {boundary}
    assert {role.get("permissionsBoundary") for role in built("prod").of_type(ROLE).values()} == {None}


def test_nothing_makes_a_key_or_a_user() -> None:
    kinds = {r.type for r in built("prod").resources}
    assert not [k for k in kinds if any(word in k.lower() for word in ("accesskey", "iam/user", "keypair", "secret"))]
