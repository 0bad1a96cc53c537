"""Syntax of AWS identifiers in a stack file, checked without calling AWS."""

import re
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from components.contract.environments import ENVIRONMENT_TAG
from components.contract.labels import OWN_DOMAIN

REGIONS: Final = (
    *("af-south-1", "ap-east-1", "ap-east-2", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1"),
    *("ap-south-2", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5"),
    *("ap-southeast-6", "ap-southeast-7", "ca-central-1", "ca-west-1", "eu-central-1", "eu-central-2", "eu-north-1"),
    *("eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3", "il-central-1", "me-central-1", "me-south-1"),
    *("mx-central-1", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2"),
)
"""Regions of the partition ``aws``: https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-regions.html.

The partitions of China and of the US government use different ARNs and endpoints and are not supported.
"""

TAG_KEY_MAX: Final = 128
TAG_VALUE_MAX: Final = 256
"""Allowed characters of a tag: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html."""

ROLE_NAME_MAX: Final = 64
"""``roleNameType`` of IAM's API: botocore 1.44, ``data/iam/2010-05-08/service-2.json``."""

NODE_GROUP_NAME_MAX: Final = 63
"""https://github.com/terraform-aws-modules/terraform-aws-eks/issues/1713 has EKS's message; its API names no limit."""

LAUNCH_TEMPLATE_NAME_MAX: Final = 128
"""https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html."""

BACKUP_NAME_MAX: Final = 50
"""For vaults, plans and selections: https://docs.aws.amazon.com/aws-backup/latest/devguide/API_CreateBackupVault.html,
https://docs.aws.amazon.com/aws-backup/latest/devguide/API_BackupPlanInput.html."""


class OwnTag(StrEnum):
    """Keys of the tags that have a meaning in this package."""

    CLUSTER = f"{OWN_DOMAIN}/cluster"
    """On all AWS resources: the cluster's name."""

    STACK = f"{OWN_DOMAIN}/stack"
    """On all AWS resources: the stack that created them."""

    REGION = f"{OWN_DOMAIN}/region"
    """On all AWS resources: the region of the cluster. Roles belong to all regions of an account."""

    ENVIRONMENT = ENVIRONMENT_TAG
    """On all AWS resources: ``dev`` or ``prod``, unless the stack file sets another value."""

    MANAGED_BY = "managed-by"
    """On all AWS resources: this package, unless the stack file sets another value; warns against manual edits."""

    PURPOSE = f"{OWN_DOMAIN}/purpose"
    """On file systems: what the storage is for, one of ``Purpose``."""

    MACHINE_TYPE = f"{OWN_DOMAIN}/machine-type"
    """On node groups of capacity blocks, whose machine type is in their launch template: that type."""

    KEPT = f"{OWN_DOMAIN}/kept"
    """On resources that `destroy` keeps: why they are kept, such as ``backups``."""

    HOURS = f"{OWN_DOMAIN}/hours"
    """On node groups with office hours: their minimum size by night and by day."""

    AUTOSCALER = f"{OWN_DOMAIN}/autoscaler"
    """On the Auto Scaling groups that the autoscaler may scale: the name of its cluster.

    EKS marks every group for the autoscaler's usual discovery, including static ones. With our own tag on elastic
    groups only, neither the autoscaler nor its role can change initial and data nodes.
    """


RESERVED_TAG_PREFIXES: Final = ("aws:", "eks:", "kubernetes.io/", "k8s.io/", f"{OWN_DOMAIN}/")
"""Tags that AWS, EKS, Kubernetes, the autoscaler or this package uses; a stack file may not set them."""

_TAG = re.compile(r"[\w .:/=+\-@]*")
_ROLE = re.compile(r"arn:aws:iam::\d{12}:role/[\w+=,.@/-]+", re.ASCII)
_KEY = re.compile(r"arn:aws:kms:(?P<region>[a-z0-9-]+):\d{12}:key/[0-9a-f-]{36}", re.ASCII)
_CERTIFICATE = re.compile(
    r"arn:aws:acm:[a-z0-9-]+:\d{12}:certificate/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII
)
_HOSTED_ZONE: Final = "Z[A-Z0-9]{1,31}"
"""``ResourceId`` of Route 53's API has at most 32 characters: botocore 1.44, ``data/route53/2013-04-01``; ids of zones
begin with Z (assumed)."""
_BOUNDARY = re.compile(r"arn:aws:iam::(\d{12}|aws):policy/[\w+=,.@/-]+", re.ASCII)


def _account_id(text: str) -> str:
    if not re.fullmatch(r"[0-9]{12}", text) or not text.strip("0"):
        raise ValueError("must be an account id of 12 digits, not all of them 0")
    return text


def _region(name: str) -> str:
    if name not in REGIONS:
        raise ValueError("unknown AWS region (China and GovCloud are not supported)")
    return name


def _role_arn(arn: str) -> str:
    if ":sts::" in arn or ":assumed-role/" in arn:
        raise ValueError("is a temporary session; use the role's ARN: arn:aws:iam::ACCOUNT:role/NAME")
    if ":user/" in arn or arn.endswith(":root"):
        raise ValueError("is a user, and users have permanent keys; use a role: arn:aws:iam::ACCOUNT:role/NAME")
    if not _ROLE.fullmatch(arn):
        raise ValueError("is not a role's ARN: arn:aws:iam::ACCOUNT:role/NAME")
    return arn


def _key_arn(arn: str) -> str:
    if ":alias/" in arn:
        raise ValueError("is an alias, which can be moved to another key; use the key's ARN")
    if not _KEY.fullmatch(arn):
        raise ValueError("is not a KMS key's ARN: arn:aws:kms:REGION:ACCOUNT:key/UUID")
    return arn


def _certificate_arn(arn: str) -> str:
    if ":server-certificate/" in arn:
        raise ValueError("is a certificate of IAM, which is not renewed; use one of ACM")
    if not _CERTIFICATE.fullmatch(arn):
        raise ValueError("is not the ARN of a certificate of ACM: arn:aws:acm:REGION:ACCOUNT:certificate/UUID")
    return arn


def _hosted_zone(identifier: str) -> str:
    if "/hostedzone/" in identifier or identifier.startswith("hostedzone/"):
        raise ValueError("must be the id alone, without /hostedzone/, such as Z0123456789ABC")
    if not re.fullmatch(_HOSTED_ZONE, identifier):
        raise ValueError("is not the id of a hosted zone, such as Z0123456789ABC; a zone's name is not an id")
    return identifier


def account_of(arn: str) -> str:
    """Return the account in an ARN; ``aws`` for AWS's own policies."""
    return arn.split(":")[4]


def region_of(arn: str) -> str:
    """Return the region in an ARN; empty for services without regions."""
    return arn.split(":")[3]


def control_plane_logs(cluster: str) -> str:
    """Return the log group of a control plane: https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html."""
    return f"/aws/eks/{cluster}/cluster"


def role_path(arn: str) -> str:
    """Return account, path and name of an IAM role: ``111122223333/teams/platform``."""
    return f"{account_of(arn)}/{arn.partition(':role/')[2]}"


def key_region(arn: str) -> str:
    """Return the region of a KMS key."""
    match = _KEY.fullmatch(arn)
    return match["region"] if match else ""


def _boundary_arn(arn: str) -> str:
    if not _BOUNDARY.fullmatch(arn):
        raise ValueError("is not a policy's ARN: arn:aws:iam::ACCOUNT:policy/NAME")
    return arn


def _has_prefix(prefix: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(_id_pattern(prefix), text):
            raise ValueError(f"must be '{prefix}-' and 8 or 17 hexadecimal digits")
        return text

    return AfterValidator(check)


def _id_pattern(prefix: str) -> str:
    return rf"{prefix}-([0-9a-f]{{8}}|[0-9a-f]{{17}})"


def _tag_key(key: str) -> str:
    if not 0 < len(key) <= TAG_KEY_MAX or not _TAG.fullmatch(key):
        raise ValueError(f"a tag's key must be 1 to {TAG_KEY_MAX} letters, digits, spaces or _ . : / = + - @")
    for prefix in RESERVED_TAG_PREFIXES:
        if key.lower().startswith(prefix) or f".{prefix}" in key.lower():
            raise ValueError(f"the tag prefix '{prefix}' is reserved; use another")
    return key


def _tag_value(value: str) -> str:
    if len(value) > TAG_VALUE_MAX or not _TAG.fullmatch(value):
        raise ValueError(f"a tag's value must be at most {TAG_VALUE_MAX} letters, digits, spaces or _ . : / = + - @")
    return value


def _matching(pattern: str) -> Any:
    return Field(json_schema_extra={"pattern": f"^{pattern}$"})


AccountId = Annotated[str, AfterValidator(_account_id), _matching("(?!0{12}$)[0-9]{12}")]
Region = Annotated[str, AfterValidator(_region), Field(json_schema_extra={"enum": list(REGIONS)})]
RoleArn = Annotated[str, AfterValidator(_role_arn), _matching("arn:aws:iam::[0-9]{12}:role/.+")]
KeyArn = Annotated[str, AfterValidator(_key_arn), _matching("arn:aws:kms:[a-z0-9-]+:[0-9]{12}:key/[0-9a-f-]{36}")]
CertificateArn = Annotated[
    str, AfterValidator(_certificate_arn), _matching("arn:aws:acm:[a-z0-9-]+:[0-9]{12}:certificate/[0-9a-f-]{36}")
]
HostedZoneId = Annotated[str, AfterValidator(_hosted_zone), _matching(_HOSTED_ZONE)]
BoundaryArn = Annotated[str, AfterValidator(_boundary_arn), _matching("arn:aws:iam::([0-9]{12}|aws):policy/.+")]
VpcId = Annotated[str, _has_prefix("vpc"), _matching(_id_pattern("vpc"))]
SubnetId = Annotated[str, _has_prefix("subnet"), _matching(_id_pattern("subnet"))]
TagKey = Annotated[str, AfterValidator(_tag_key)]
TagValue = Annotated[str, AfterValidator(_tag_value)]
