"""What ways in make in AWS, and what their roles may do there, by IAM's documented logic."""

import json
from functools import cache
from typing import Any

import pytest

from components.contract.ingress import EXTERNAL_DNS
from support.eks import ACCOUNT, ADDON, NODE_GROUP, build, built
from support.iam_conditions import allows, trusts
from support.policies import Wire, sent
from support.recorder import Recorder

ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
POLICY = "aws:iam/rolePolicy:RolePolicy"
ROLE = "aws:iam/role:Role"
CERTIFICATE = f"arn:aws:acm:eu-west-1:{ACCOUNT}:certificate/11111111-2222-3333-4444-555555555555"
INGRESS = {
    "domain": "ml.example.com",
    "clientCidrs": ["10.0.0.0/8"],
    "certificateArn": CERTIFICATE,
    "hostedZoneId": "Z0123456789ABC",
}
CONTROLLER, DNS = "test-load-balancers", "test-dns-addons-external-dns"
ZONE = "arn:aws:route53:::hostedzone/Z0123456789ABC"
NAMES = "route53:ChangeResourceRecordSetsNormalizedRecordNames"
BALANCER = f"arn:aws:elasticloadbalancing:eu-west-1:{ACCOUNT}:loadbalancer/app/k8s-research/0123456789abcdef"
LISTENER = BALANCER.replace(":loadbalancer/", ":listener/") + "/0123456789abcdef"
TARGETS = f"arn:aws:elasticloadbalancing:eu-west-1:{ACCOUNT}:targetgroup/k8s-mlrun/0123456789abcdef"
GROUP = f"arn:aws:ec2:eu-west-1:{ACCOUNT}:security-group/sg-0123456789abcdef0"
OURS = {"aws:ResourceTag/elbv2.k8s.aws/cluster": "research"}
OTHERS = {"aws:ResourceTag/elbv2.k8s.aws/cluster": "other"}
ASKED = {"aws:RequestTag/elbv2.k8s.aws/cluster": "research"}
NODES = {"aws:ResourceTag/kubernetes.io/cluster/research": "owned"}


@cache
def reached() -> Recorder:
    return build({"cluster.ingress": INGRESS})


def policy(role: str) -> str:
    text: str = reached().of_type(POLICY)[role]["policy"]
    return text


def test_a_stack_without_ways_in_makes_nothing_for_them() -> None:
    assert EXTERNAL_DNS not in {addon["addonName"] for addon in built().of_type(ADDON).values()}
    assert CONTROLLER not in built().of_type(ROLE)
    policies = built().of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")
    assert not [name for name in policies if "allow-clients" in name]


def test_names_of_ones_own_need_no_addon() -> None:
    without = build({"cluster.ingress": {**INGRESS, "hostedZoneId": None}})
    assert CONTROLLER in without.of_type(ROLE)
    assert EXTERNAL_DNS not in {addon["addonName"] for addon in without.of_type(ADDON).values()}


def test_the_account_of_the_controllers_chart_gets_the_role() -> None:
    association = reached().of_type(ASSOCIATION)[CONTROLLER]
    assert (association["namespace"], association["serviceAccount"]) == ("kube-system", "aws-load-balancer-controller")

    def is_trusted(**changes: str) -> bool:
        tags = {
            "eks-cluster-arn": f"arn:aws:eks:eu-west-1:{ACCOUNT}:cluster/research",
            "kubernetes-namespace": "kube-system",
            "kubernetes-service-account": "aws-load-balancer-controller",
        }
        context = {f"aws:RequestTag/{key}": value for key, value in {**tags, **changes}.items()}
        document = reached().of_type(ROLE)[CONTROLLER]["assumeRolePolicy"]
        return trusts(document, "pods.eks.amazonaws.com", "sts:AssumeRole", context)

    assert is_trusted()
    assert not is_trusted(**{"kubernetes-namespace": "mlrun"})
    assert not is_trusted(**{"kubernetes-service-account": "default"})


USED: list[tuple[str, str, dict[str, Any], bool]] = [
    ("elasticloadbalancing:DescribeLoadBalancers", "*", {}, True),
    ("elasticloadbalancing:CreateLoadBalancer", BALANCER, ASKED, True),
    ("elasticloadbalancing:CreateLoadBalancer", BALANCER, {}, False),
    ("elasticloadbalancing:CreateLoadBalancer", BALANCER.replace("/app/", "/net/"), ASKED, False),
    ("elasticloadbalancing:CreateTargetGroup", TARGETS, ASKED, True),
    ("elasticloadbalancing:CreateListener", BALANCER, OURS, True),
    ("elasticloadbalancing:CreateListener", BALANCER, OTHERS, False),
    ("elasticloadbalancing:CreateListener", BALANCER.replace("eu-west-1", "eu-central-1"), OURS, False),
    ("elasticloadbalancing:CreateRule", LISTENER, OURS, True),
    ("elasticloadbalancing:ModifyListener", LISTENER, OURS, True),
    ("elasticloadbalancing:DeleteListener", LISTENER, {}, False),
    ("elasticloadbalancing:DeleteRule", LISTENER.replace(":listener/", ":listener-rule/"), OURS, True),
    ("elasticloadbalancing:DeleteRule", LISTENER.replace(":listener/", ":listener-rule/"), OTHERS, False),
    ("elasticloadbalancing:AddTags", LISTENER, {**ASKED, "elasticloadbalancing:CreateAction": "CreateListener"}, True),
    ("elasticloadbalancing:AddTags", LISTENER, {}, False),
    ("elasticloadbalancing:RemoveTags", LISTENER, OURS, True),
    ("elasticloadbalancing:DeleteLoadBalancer", BALANCER, OURS, True),
    ("elasticloadbalancing:DeleteLoadBalancer", BALANCER, OTHERS, False),
    ("elasticloadbalancing:DeleteLoadBalancer", BALANCER, {}, False),
    ("elasticloadbalancing:RegisterTargets", TARGETS, OURS, True),
    ("elasticloadbalancing:RegisterTargets", TARGETS, OTHERS, False),
    ("elasticloadbalancing:AddTags", BALANCER, OURS, True),
    ("elasticloadbalancing:AddTags", BALANCER, {**OURS, **ASKED}, False),
    (
        "elasticloadbalancing:AddTags",
        BALANCER,
        {**ASKED, "elasticloadbalancing:CreateAction": "CreateLoadBalancer"},
        True,
    ),
    ("elasticloadbalancing:SetWebAcl", BALANCER, OURS, False),
    ("ec2:AuthorizeSecurityGroupIngress", GROUP, OURS, True),
    ("ec2:AuthorizeSecurityGroupIngress", GROUP, NODES, True),
    ("ec2:AuthorizeSecurityGroupIngress", GROUP, {}, False),
    ("ec2:DeleteSecurityGroup", GROUP, OURS, True),
    ("ec2:DeleteSecurityGroup", GROUP, NODES, False),
    ("ec2:CreateTags", GROUP, {**ASKED, "ec2:CreateAction": "CreateSecurityGroup"}, True),
    ("ec2:CreateTags", GROUP, OTHERS, False),
    ("iam:CreateServiceLinkedRole", "*", {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}, True),
    ("iam:CreateServiceLinkedRole", "*", {"iam:AWSServiceName": "eks.amazonaws.com"}, False),
    ("ec2:TerminateInstances", "*", {}, False),
    ("wafv2:AssociateWebACL", "*", {}, False),
    ("shield:CreateProtection", "*", {}, False),
]


@pytest.mark.parametrize(("action", "resource", "context", "is_allowed"), USED)
def test_the_controller_changes_only_what_it_made_for_this_cluster(
    action: str, resource: str, context: dict[str, Any], is_allowed: bool
) -> None:
    assert allows(policy(CONTROLLER), action, resource, context) is is_allowed


@pytest.mark.parametrize(
    ("zone", "names", "is_allowed"),
    [
        (ZONE, ["mlrun.ml.example.com"], True),
        (ZONE, ["mlrun.ml.example.com", "a-mlrun.ml.example.com"], True),
        (ZONE, ["mlrun.ml.example.com", "example.com"], False),
        (ZONE, ["ml.example.com"], False),
        (ZONE, ["mail.example.com"], False),
        (ZONE.replace("ABC", "XYZ"), ["mlrun.ml.example.com"], False),
    ],
)
def test_names_are_changed_below_the_domain_and_in_its_zone_only(zone: str, names: list[str], is_allowed: bool) -> None:
    assert allows(policy(DNS), "route53:ChangeResourceRecordSets", zone, {NAMES: names}) is is_allowed


def test_other_zones_are_listed_and_neither_read_nor_deleted() -> None:
    assert allows(policy(DNS), "route53:ListHostedZones", "*")
    assert allows(policy(DNS), "route53:ListResourceRecordSets", ZONE)
    assert not allows(policy(DNS), "route53:ListResourceRecordSets", ZONE.replace("ABC", "XYZ"))
    assert not allows(policy(DNS), "route53:DeleteHostedZone", ZONE)


def test_the_addon_knows_its_zone_its_domain_and_its_owner() -> None:
    [addon] = [each for each in reached().of_type(ADDON).values() if each["addonName"] == EXTERNAL_DNS]
    assert [each["serviceAccount"] for each in addon["podIdentityAssociations"]] == [EXTERNAL_DNS]
    said = json.loads(addon["configurationValues"])
    # Without the second one external-dns leaves out a zone above the domain.
    assert said["extraArgs"] == ["--zone-id-filter=Z0123456789ABC", "--aws-zone-match-parent"]
    assert (said["domainFilters"], said["sources"], said["policy"]) == (["ml.example.com"], ["ingress"], "sync")
    assert said["txtOwnerId"] == "research-eu-west-1"
    trusted = json.loads(reached().of_type(ROLE)[DNS]["assumeRolePolicy"])["Statement"][0]["Condition"]["StringEquals"]
    assert trusted["aws:RequestTag/kubernetes-namespace"] == "external-dns"


@pytest.mark.parametrize("first_preview", [False, True])
def test_every_rule_accepts_what_is_made_without_a_doubt(first_preview: bool) -> None:
    recorder = build({"cluster.ingress": INGRESS}, first_preview=True) if first_preview else reached()
    wire = Wire(stack={"environment": "dev", "profile": "mlrun-ce", "policies": {"jupyterServices": ["reports"]}})
    assert wire.judge_stack(sent(recorder)).outcome == {"expect": [], "advise": [], "unjudged": []}


def test_the_addon_waits_for_nodes() -> None:
    needed = reached().needs((ADDON, DNS))
    assert {name for type_, name in needed if type_ == NODE_GROUP} >= {"test-initial"}


def test_a_boundary_is_on_the_roles_too() -> None:
    boundary = f"arn:aws:iam::{ACCOUNT}:policy/boundary"
    recorder = build({"cluster.ingress": INGRESS, "cluster.permissionsBoundaryArn": boundary})
    for role in (CONTROLLER, DNS):
        assert recorder.of_type(ROLE)[role]["permissionsBoundary"] == boundary
