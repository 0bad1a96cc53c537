"""botocore's models of the services that the emulator answers for."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from botocore.model import OperationModel

from workbench.offline.aws.models import service_model

SERVICES: Final = (
    *("autoscaling", "backup", "ec2", "efs", "eks", "eks-auth", "elb", "elbv2", "fsx", "iam", "kms"),
    *("logs", "resourcegroupstaggingapi", "sts"),
)
"""By the names of botocore, which boto3's clients have."""


def protocol(service: str) -> str:
    """Return how a service's requests and answers are written: ec2, query, json or rest-json."""
    return str(service_model(service).metadata["protocol"])


def operation(service: str, name: str) -> OperationModel | None:
    """Return an operation of a service, None if it has none of that name."""
    known = service_model(service)
    return known.operation_model(name) if name in known.operation_names else None


BY_PATH: Final = ("eks", "eks-auth", "backup", "efs")
"""Those whose requests name what they do by method and path; tags have the same paths at EKS and AWS Backup."""


@cache
def services_signed_as() -> Mapping[str, Mapping[str, str]]:
    """Return the service by its name in signatures and by the API version that its requests name.

    Two services, those of load balancers, share a name and differ in the version.
    """
    found: dict[str, dict[str, str]] = {}
    for service in SERVICES:
        metadata: Mapping[str, Any] = service_model(service).metadata
        signed = metadata.get("signingName", metadata["endpointPrefix"])
        found.setdefault(signed, {})[metadata["apiVersion"]] = service
    return found
