"""moto's stores of the one account and region: what exists, as the server's own parts see it."""

from typing import TYPE_CHECKING

from moto.backends import get_backend

from workbench.clouds.aws.double.server import ACCOUNT, REGION

if TYPE_CHECKING:
    from moto.autoscaling.models import AutoScalingBackend
    from moto.ec2.models import EC2Backend
    from moto.iam.models import IAMBackend
    from moto.kms.models import KmsBackend
    from moto.logs.models import LogsBackend


def autoscaling() -> "AutoScalingBackend":
    """Return Auto Scaling's store."""
    return get_backend("autoscaling")[ACCOUNT][REGION]


def ec2() -> "EC2Backend":
    """Return EC2's store."""
    return get_backend("ec2")[ACCOUNT][REGION]


def iam() -> "IAMBackend":
    """Return IAM's store, which has no region."""
    return get_backend("iam")[ACCOUNT]["aws"]


def kms() -> "KmsBackend":
    """Return KMS's store."""
    return get_backend("kms")[ACCOUNT][REGION]


def logs() -> "LogsBackend":
    """Return the store of CloudWatch Logs."""
    return get_backend("logs")[ACCOUNT][REGION]
