"""The service as a whole: ``server/eks/__init__.py``."""

import botocore.session
import pytest

from emulators.aws.server.eks import Eks
from emulators.core.client import not_yet_there
from emulators.core.faults import LostRule, NotYetVisibleRule
from emulators.core.service_context import ServiceContext
from support.aws import refused
from support.eks_account import Account, role

VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


def test_the_inventory_has_what_somebody_made_by_the_ids_of_pulumis_state(home: Account) -> None:
    cluster = home.cluster(accessConfig={"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True})
    group, principal = home.group(cluster), role(home.aws, "sts.amazonaws.com")
    owned = [{"serviceAccount": "aws-node", "roleArn": home.pod_role}]
    home.eks.create_addon(clusterName=cluster, addonName="vpc-cni", podIdentityAssociations=owned)
    home.eks.create_access_entry(clusterName=cluster, principalArn=principal)
    home.eks.associate_access_policy(
        clusterName=cluster, principalArn=principal, policyArn=VIEW, accessScope={"type": "cluster"}
    )
    own = home.eks.create_pod_identity_association(
        clusterName=cluster, namespace="a", serviceAccount="b", roleArn=home.pod_role
    )["association"]["associationId"]
    owned_id = home.read_addon(cluster, "vpc-cni")["podIdentityAssociations"][0].rpartition("/")[2]
    found = home.aws.inventory()
    assert cluster in found["aws:eks/cluster:Cluster"]
    assert f"{cluster}:{group}" in found["aws:eks/nodeGroup:NodeGroup"]
    assert f"{cluster}:vpc-cni" in found["aws:eks/addon:Addon"]
    of_cluster = [each for each in found["aws:eks/accessEntry:AccessEntry"] if each.startswith(f"{cluster}:")]
    assert of_cluster == [f"{cluster}:{principal}"]
    assert f"{cluster}#{principal}#{VIEW}" in found["aws:eks/accessPolicyAssociation:AccessPolicyAssociation"]
    assert own in found["aws:eks/podIdentityAssociation:PodIdentityAssociation"]
    assert owned_id not in found["aws:eks/podIdentityAssociation:PodIdentityAssociation"]


def test_an_answer_that_was_lost_is_asked_for_again_and_nothing_is_made_twice(home: Account) -> None:
    name = home.cluster()
    home.aws.set_faults(LostRule(operation="eks:CreateNodegroup", times=1))
    group = home.group(name)
    assert home.eks.list_nodegroups(clusterName=name)["nodegroups"] == [group]
    own = home.read_group(name, group)["resources"]["autoScalingGroups"][0]["name"]
    found = home.aws.inventory()["AWS::AutoScaling::AutoScalingGroup"]
    assert [each for each in found if group in each] == [own]


def test_a_role_that_is_new_is_not_known_for_some_calls(home: Account) -> None:
    name, args = home.cluster(), {"cluster": role(home.aws, "eks.amazonaws.com"), "node": home.node_role}
    home.aws.set_faults(NotYetVisibleRule(operation="eks:Create*", calls=3))
    with refused("InvalidParameterException"):
        home.cluster(roleArn=args["cluster"])
    home.group(name, nodeRole=args["node"])
    for _ in range(3):
        home.eks.list_clusters()
    home.cluster(roleArn=args["cluster"])


def test_what_was_just_made_may_not_be_there_at_first(home: Account) -> None:
    name = home.cluster()
    home.aws.set_faults(not_yet_there("eks:DescribeNodegroup", "ResourceNotFoundException", reads=2, about="*"))
    group = home.group(name)
    for _ in range(2):
        with refused("ResourceNotFoundException"):
            home.read_group(name, group)
    assert home.read_group(name, group)["status"] == "ACTIVE"


def test_what_the_emulator_answers_is_an_operation_of_eks_or_eks_auth() -> None:
    session = botocore.session.get_session()
    known = {name for service in ("eks", "eks-auth") for name in session.get_service_model(service).operation_names}
    assert set(Eks(ServiceContext())._handlers) <= known


def test_an_operation_that_the_emulator_does_not_have_is_no_error_of_aws() -> None:
    with pytest.raises(NotImplementedError, match="eks:CreateFargateProfile"):
        Eks(ServiceContext()).handle("CreateFargateProfile", {})
