"""moto's stores of the one account and region: what exists, as the server's own parts see it.

They are ``Any``, because moto's annotations say less than its objects hold.
"""

from typing import Any

from moto.backends import get_backend

from emulators.aws.server import ACCOUNT, REGION


def autoscaling() -> Any:
    """Return Auto Scaling's store."""
    return get_backend("autoscaling")[ACCOUNT][REGION]


def ec2() -> Any:
    """Return EC2's store."""
    return get_backend("ec2")[ACCOUNT][REGION]


def efs() -> Any:
    """Return EFS's store."""
    return get_backend("efs")[ACCOUNT][REGION]


def fsx() -> Any:
    """Return FSx's store."""
    return get_backend("fsx")[ACCOUNT][REGION]


def iam() -> Any:
    """Return IAM's store, which has no region."""
    return get_backend("iam")[ACCOUNT]["aws"]


def kms() -> Any:
    """Return KMS's store."""
    return get_backend("kms")[ACCOUNT][REGION]


def logs() -> Any:
    """Return the store of CloudWatch Logs."""
    return get_backend("logs")[ACCOUNT][REGION]
