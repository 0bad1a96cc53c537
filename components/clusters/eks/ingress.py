"""Ways in to an EKS cluster: rights of the AWS Load Balancer Controller, and the add-on that creates names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_aws.eks import PodIdentityAssociation

from components.base import PlatformComponent
from components.clusters.eks.identity import PodRole, ServiceRole, pod_role_args
from components.clusters.eks.managed_addons import ManagedAddon
from components.contract.eks.config import EksConfig
from components.contract.eks.ingress import CONTROLLER, CONTROLLER_NAMESPACE
from components.contract.ingress import EXTERNAL_DNS, naming

OWN_TAG: Final = "elbv2.k8s.aws/cluster"
"""Tag by which the controller recognises what it created: ``docs/install/iam_policy.json`` of the controller v3.5.0."""


@dataclass(frozen=True, kw_only=True)
class LoadBalancerRightsArgs:
    """Inputs of the controller's rights."""

    choices: EksConfig
    cluster_name: pulumi.Input[str]
    cluster_arn: str


class LoadBalancerRights(PlatformComponent):
    """The role of the AWS Load Balancer Controller, and its association with the controller's service account.

    The controller itself is not an EKS add-on. `igz-clusters values --for aws-load-balancer-controller` prints its
    values.
    """

    def __init__(self, name: str, args: LoadBalancerRightsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksLoadBalancerRights", name, None, opts)
        choices = args.choices
        pod = PodRole(
            service_account=CONTROLLER,
            namespace=CONTROLLER_NAMESPACE,
            statements=controller_statements(choices.name, choices.region, choices.account_id),
        )
        role = ServiceRole(name, pod_role_args(pod, args.cluster_arn, choices.permissions_boundary_arn), self.child())
        PodIdentityAssociation(
            name,
            cluster_name=args.cluster_name,
            namespace=CONTROLLER_NAMESPACE,
            service_account=CONTROLLER,
            role_arn=role.arn,
            opts=self.child(depends_on=[role]),
        )
        self.register_outputs({"roleArn": role.arn})


def dns_addon(choices: EksConfig, domain: str, zone_id: str) -> ManagedAddon:
    """Return the add-on that creates and deletes the names of Ingresses below the domain, in one zone.

    https://docs.aws.amazon.com/eks/latest/userguide/community-addons.html lists its namespace and service account.
    Its configuration is that of the chart; we assume that the add-on accepts ``extraArgs`` too.
    """
    return ManagedAddon(
        name=EXTERNAL_DNS,
        configuration={
            **naming(domain, f"{choices.name}-{choices.region}"),
            # A public and a private zone of the same domain can coexist. The zone may be a parent of the domain, which
            # a domain filter would exclude: ``provider/aws/aws.go``.
            "extraArgs": [f"--zone-id-filter={zone_id}", "--aws-zone-match-parent"],
        },
        pod=PodRole(service_account=EXTERNAL_DNS, namespace=EXTERNAL_DNS, statements=dns_statements(zone_id, domain)),
    )


def dns_statements(zone_id: str, domain: str) -> list[dict[str, Any]]:
    """Return the rights of external-dns: to read one zone, and to change names below the domain in it.

    kubernetes-sigs/external-dns 2bf1bf8a ``docs/tutorials/aws.md``; the condition:
    https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/specifying-rrset-conditions.html. It reads tags of zones
    only if it filters by them: ``provider/aws/aws.go``.
    """
    zone = f"arn:aws:route53:::hostedzone/{zone_id}"
    names = {"route53:ChangeResourceRecordSetsNormalizedRecordNames": [f"*.{domain}"]}
    return [
        {
            "Effect": "Allow",
            "Action": ["route53:ChangeResourceRecordSets"],
            "Resource": zone,
            "Condition": {"ForAllValues:StringLike": names},
        },
        {"Effect": "Allow", "Action": ["route53:ListResourceRecordSets"], "Resource": zone},
        # A list action cannot be restricted to a resource.
        {"Effect": "Allow", "Action": ["route53:ListHostedZones"], "Resource": "*"},
    ]


def controller_statements(cluster: str, region: str, account: str) -> list[dict[str, Any]]:
    """Return the controller's rights: to read, and to change what it created for this cluster.

    ``docs/install/iam_policy.json`` of v3.5.0, less WAF, Shield, Cognito, trust stores, pools of addresses, network
    load balancers and the search for certificates, which its values switch off or the stack file replaces. Where that
    file requires the tag of any cluster, this requires the tag of this cluster. For listeners and their rules that file
    requires no tag, but this does: the controller tags them like the rest (``pkg/deploy/elbv2/listener_manager.go``,
    ``listener_rule_manager.go``).
    """
    load_balancing = f"arn:aws:elasticloadbalancing:{region}:{account}"
    # No network load balancers: an Ingress could put one on the internet before the load balancer of its class.
    tagged = [f"{load_balancing}:{kind}/*" for kind in ("targetgroup", "loadbalancer/app")]
    listeners = [f"{load_balancing}:{kind}/app/*" for kind in ("listener", "listener-rule")]
    groups = f"arn:aws:ec2:{region}:{account}:security-group/*"
    # Changes of tags may not affect the cluster's own tag.
    retagging = {"Null": {f"aws:RequestTag/{OWN_TAG}": "true"}, **_of("ResourceTag", OWN_TAG, cluster)}
    asked, made = _of("RequestTag", OWN_TAG, cluster), _of("ResourceTag", OWN_TAG, cluster)
    # The security group that EKS gives to all nodes, and so to their pods.
    nodes = _of("ResourceTag", f"kubernetes.io/cluster/{cluster}", "owned")
    rules = ["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"]
    tags = ["elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags"]
    creations = ["CreateLoadBalancer", "CreateTargetGroup", "CreateListener", "CreateRule"]
    return [
        _allow([*_READ], "*"),
        _allow(
            ["iam:CreateServiceLinkedRole"],
            "*",
            {"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}},
        ),
        _allow(["ec2:CreateSecurityGroup"], "*"),
        _allow(
            ["ec2:CreateTags"],
            groups,
            {"StringEquals": {"ec2:CreateAction": "CreateSecurityGroup", **asked["StringEquals"]}},
        ),
        _allow(["ec2:CreateTags", "ec2:DeleteTags"], groups, retagging),
        _allow([*rules, "ec2:DeleteSecurityGroup"], "*", made),
        _allow(rules, "*", nodes),
        _allow(["elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"], tagged, asked),
        _allow([*_LISTENERS], [f"{load_balancing}:loadbalancer/app/*", *listeners], made),
        _allow(tags, [*tagged, *listeners], retagging),
        _allow(
            ["elasticloadbalancing:AddTags"],
            [*tagged, *listeners],
            {"StringEquals": {"elasticloadbalancing:CreateAction": creations, **asked["StringEquals"]}},
        ),
        _allow([*_CHANGES], "*", made),
        _allow(
            ["elasticloadbalancing:DeregisterTargets", "elasticloadbalancing:RegisterTargets"],
            f"{load_balancing}:targetgroup/*",
            made,
        ),
    ]


_READ: Final = (
    "ec2:DescribeAccountAttributes",
    "ec2:DescribeAddresses",
    "ec2:DescribeAvailabilityZones",
    "ec2:DescribeInstances",
    "ec2:DescribeInternetGateways",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeTags",
    "ec2:DescribeVpcPeeringConnections",
    "ec2:DescribeVpcs",
    "ec2:GetSecurityGroupsForVpc",
    "elasticloadbalancing:DescribeCapacityReservation",
    "elasticloadbalancing:DescribeListenerAttributes",
    "elasticloadbalancing:DescribeListenerCertificates",
    "elasticloadbalancing:DescribeListeners",
    "elasticloadbalancing:DescribeLoadBalancerAttributes",
    "elasticloadbalancing:DescribeLoadBalancers",
    "elasticloadbalancing:DescribeRules",
    "elasticloadbalancing:DescribeSSLPolicies",
    "elasticloadbalancing:DescribeTags",
    "elasticloadbalancing:DescribeTargetGroupAttributes",
    "elasticloadbalancing:DescribeTargetGroups",
    "elasticloadbalancing:DescribeTargetHealth",
)

_LISTENERS: Final = (
    "elasticloadbalancing:AddListenerCertificates",
    "elasticloadbalancing:CreateListener",
    "elasticloadbalancing:CreateRule",
    "elasticloadbalancing:DeleteListener",
    "elasticloadbalancing:DeleteRule",
    "elasticloadbalancing:ModifyListener",
    "elasticloadbalancing:ModifyRule",
    "elasticloadbalancing:RemoveListenerCertificates",
    "elasticloadbalancing:SetRulePriorities",
)
"""Actions on listeners and their rules. IAM checks CreateListener on the load balancer, CreateRule on the listener."""

_CHANGES: Final = (
    "elasticloadbalancing:DeleteLoadBalancer",
    "elasticloadbalancing:DeleteTargetGroup",
    "elasticloadbalancing:ModifyCapacityReservation",
    "elasticloadbalancing:ModifyListenerAttributes",
    "elasticloadbalancing:ModifyLoadBalancerAttributes",
    "elasticloadbalancing:ModifyTargetGroup",
    "elasticloadbalancing:ModifyTargetGroupAttributes",
    "elasticloadbalancing:SetIpAddressType",
    "elasticloadbalancing:SetSecurityGroups",
    "elasticloadbalancing:SetSubnets",
)


def _of(kind: str, tag: str, value: str) -> dict[str, dict[str, Any]]:
    return {"StringEquals": {f"aws:{kind}/{tag}": value}}


def _allow(actions: list[str], resource: str | list[str], condition: Mapping[str, Any] | None = None) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": "Allow", "Action": actions, "Resource": resource}
    return {**statement, "Condition": condition} if condition else statement
