"""Single values of an EKS cluster: its name, versions, add-ons, and how long logs are kept."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo

from components.contract.aws import account_of
from components.contract.choices import one_of
from components.contract.ingress import EXTERNAL_DNS
from components.contract.kubernetes_minors import one_offered

ADDONS: Final = (
    *("vpc-cni", "kube-proxy", "eks-pod-identity-agent"),
    *("coredns", "aws-ebs-csi-driver", "metrics-server", "eks-node-monitoring-agent"),
)
"""EKS add-ons that every cluster gets: the first three before the nodes, the others after the initial group."""

CNI: Final = "vpc-cni"
"""Add-on that gives pods their addresses."""

CNI_MIN: Final = (1, 22, 4)
"""First version of it that keeps the network policies of namespaces apart.

Its network policy agent is release 1.4.0. Older agents may apply the policies of one namespace to pods of another
(https://github.com/aws/aws-network-policy-agent/pull/576), before 1.3.7 or no policies (pull/563). Older versions also
lack what settings of the cluster need: before v1.9.0 prefixes
(https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses-procedure.html), before v1.22.0 the tag with
the value 0, which keeps pods off the subnets of nodes; v1.22.0 and v1.22.1 need a right that ``AmazonEKS_CNI_Policy``
lacks, and stop (https://github.com/aws/amazon-vpc-cni-k8s/issues/3705).
"""

EFS_ADDON: Final = "aws-efs-csi-driver"
LUSTRE_ADDON: Final = "aws-fsx-csi-driver"
"""Add-ons of clusters with shared storage, by its type."""

PREFIX_DELEGATION: Final = "ENABLE_PREFIX_DELEGATION"
"""Variable of the CNI by which nodes get addresses of pods in prefixes."""

LOG_RETENTION_DAYS: Final = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
"""Retention times that CloudWatch accepts: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html."""

_NAME: Final = "[a-z]([a-z0-9-]{0,61}[a-z0-9])?"


def _name(name: str) -> str:
    if not re.fullmatch(_NAME, name):
        raise ValueError("must be 1 to 63 lower-case letters, digits or '-', start with a letter and not end with '-'")
    return name


def _retention(days: int) -> int:
    if days not in LOG_RETENTION_DAYS:
        raise ValueError(f"CloudWatch allows {', '.join(map(str, LOG_RETENTION_DAYS))} days")
    return days


def _release(release: str) -> str:
    if not re.fullmatch(r"1\.\d+\.\d+-\d{8}", release):
        raise ValueError("must be a Kubernetes version and a date, such as 1.35.2-20261105")
    return release


def _addon_version(version: str) -> str:
    if not re.fullmatch(r"v\d+\.\d+\.\d+-eksbuild\.\d+", version):
        raise ValueError("must be an add-on version such as v1.22.4-eksbuild.1")
    return version


def number(version: str) -> tuple[int, ...]:
    """Return the numbers of an add-on's version, without the build."""
    return tuple(map(int, version.partition("-")[0].removeprefix("v").split(".")))


ClusterName = Annotated[str, AfterValidator(_name), Field(json_schema_extra={"pattern": f"^{_NAME}$"})]
RetentionDays = Annotated[int, AfterValidator(_retention), Field(json_schema_extra={"enum": list(LOG_RETENTION_DAYS)})]
NodeRelease = Annotated[str, AfterValidator(_release)]
AddonVersion = Annotated[str, AfterValidator(_addon_version)]
Version = Annotated[str, *one_offered("eks", "HE-05: is not a minor version in standard support")]
AddonName = Annotated[str, *one_of((*ADDONS, EFS_ADDON, LUSTRE_ADDON, EXTERNAL_DNS), "add-on")]


def other_account(arn: str, info: ValidationInfo) -> str:
    """Return the problem if an ARN is not of the cluster's account; empty if it is."""
    account = info.data.get("account_id")
    if not account or account_of(arn) == account:
        return ""
    return f"is in account {account_of(arn)}, but accountId is {account}; use one of that account"
