"""IAM roles of the cluster, its nodes and its add-ons, with least privilege and without keys."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
from pulumi_aws.iam import Role, RolePolicy, RolePolicyAttachment

from components.base import PlatformComponent
from components.contract.aws import ROLE_NAME_MAX, OwnTag
from components.contract.names import automatic

POLICY_VERSION: Final = "2012-10-17"
"""Version of IAM's policy language."""

CLUSTER_POLICIES: Final = ("AmazonEKSClusterPolicy",)
"""https://docs.aws.amazon.com/eks/latest/userguide/cluster-iam-role.html."""

NODE_POLICIES: Final = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
"""Policies for joining the cluster and pulling images.

The network plug-in has a role of its own, so pods gain no network permissions from their node's role.
https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
"""

CNI_POLICIES: Final = ("AmazonEKS_CNI_Policy",)

EBS_POLICIES: Final = ("AmazonEBSCSIDriverPolicyV2",)
"""Policy for volumes that the driver created, and no others: https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicyV2.html."""

EFS_POLICIES: Final = ("service-role/AmazonEFSCSIDriverPolicy",)
"""Policy for access points that the driver created: https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEFSCSIDriverPolicy.html."""


@dataclass(frozen=True, kw_only=True)
class RoleArgs:
    """Inputs of a role that an AWS service assumes."""

    service: str
    """Service that may assume it, such as ``eks.amazonaws.com``."""
    actions: Sequence[str] = ("sts:AssumeRole",)
    conditions: Mapping[str, Mapping[str, str | Sequence[str]]] = field(default_factory=dict)
    """Conditions of the assumption, in IAM's condition language."""
    managed_policies: Sequence[str] = ()
    """Names of AWS's own policies, with their path if they have one."""
    statements: Sequence[Mapping[str, Any]] = ()
    """Statements of its inline policy."""
    permissions_boundary: str | None
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags in addition to those of all resources."""
    is_kept: bool = False
    """Whether the role and its policies stay in AWS when the stack no longer contains them."""


class ServiceRole(PlatformComponent):
    """A role with its policies. Depend on the component, not on the role, so that the policies exist too."""

    arn: pulumi.Output[str]

    def __init__(self, name: str, args: RoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksRole", name, None, opts)
        trust: dict[str, Any] = {
            "Effect": "Allow",
            "Principal": {"Service": args.service},
            "Action": list(args.actions),
        }
        if args.conditions:
            trust["Condition"] = args.conditions
        kept: dict[str, Any] = {"retain_on_delete": True} if args.is_kept else {}
        called = automatic(name, ROLE_NAME_MAX)
        role = Role(
            called,
            assume_role_policy=_document([trust]),
            permissions_boundary=args.permissions_boundary,
            tags=args.tags or None,
            opts=self.child(**kept),
        )
        for policy in args.managed_policies:
            attached, arn = policy.rpartition("/")[2], f"arn:aws:iam::aws:policy/{policy}"
            RolePolicyAttachment(f"{name}-{attached}", role=role.name, policy_arn=arn, opts=self.child(**kept))
        if args.statements:
            RolePolicy(called, role=role.name, policy=_document(args.statements), opts=self.child(**kept))
        self.arn = role.arn
        self.register_outputs({"arn": role.arn})


@dataclass(frozen=True, kw_only=True)
class PodRole:
    """A service account that gets a role through EKS Pod Identity."""

    service_account: str
    namespace: str = "kube-system"
    other_accounts: Sequence[str] = ()
    """Further accounts of the namespace that get the same role."""
    managed_policies: Sequence[str] = ()
    statements: Sequence[Mapping[str, Any]] = ()


def cache_statements(region: str, account_id: str, prefixes: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the statements to create repositories of pull-through caches; ``NODE_POLICIES`` allow to fill them.

    https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache-iam.html
    """
    repositories = [f"arn:aws:ecr:{region}:{account_id}:repository/{prefix}/*" for prefix in prefixes]
    return [{"Effect": "Allow", "Action": ["ecr:CreateRepository"], "Resource": repositories}] if prefixes else []


def pod_role_args(pod: PodRole, cluster_arn: str, permissions_boundary: str | None) -> RoleArgs:
    """Return the role of ``pod``: only its accounts in that cluster may assume it.

    https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
    """
    return RoleArgs(
        service="pods.eks.amazonaws.com",
        actions=("sts:AssumeRole", "sts:TagSession"),
        conditions={
            "StringEquals": {
                "aws:RequestTag/eks-cluster-arn": cluster_arn,
                "aws:RequestTag/kubernetes-namespace": pod.namespace,
                "aws:RequestTag/kubernetes-service-account": [pod.service_account, *pod.other_accounts]
                if pod.other_accounts
                else pod.service_account,
            }
        },
        managed_policies=pod.managed_policies,
        statements=pod.statements,
        permissions_boundary=permissions_boundary,
    )


def autoscaler_statements(cluster_name: str) -> list[dict[str, Any]]:
    """Return the autoscaler's policy: read everything, change only groups with this cluster's tag.

    https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
    """
    return [
        {
            "Effect": "Allow",
            "Action": [
                "autoscaling:DescribeAutoScalingGroups",
                "autoscaling:DescribeAutoScalingInstances",
                "autoscaling:DescribeLaunchConfigurations",
                "autoscaling:DescribeScalingActivities",
                "ec2:DescribeImages",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeLaunchTemplateVersions",
                "ec2:GetInstanceTypesFromInstanceRequirements",
                "eks:DescribeNodegroup",
            ],
            "Resource": "*",
        },
        {
            "Effect": "Allow",
            "Action": ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"],
            "Resource": "*",
            "Condition": {"StringEquals": {f"aws:ResourceTag/{OwnTag.AUTOSCALER}": cluster_name}},
        },
    ]


def _document(statements: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps({"Version": POLICY_VERSION, "Statement": list(statements)}, sort_keys=True)
