"""HK-09: storage classes create encrypted volumes."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from components.contract.labels import TRUE
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of

OPEN_UNLESS_TOLD: Final = ("ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com", "kubernetes.io/aws-ebs")
"""Drivers that encrypt only if the class requests it. Azure encrypts every managed disk:
https://learn.microsoft.com/en-us/azure/aks/azure-disk-customer-managed-keys.
"""


def check(storage_class: Resource, _: Context) -> Iterator[Finding]:
    """Require encryption in the class; the stack cannot see the account's default."""
    encrypted = storage_class.props.at("parameters", "encrypted")
    if storage_class.props.at("provisioner").text() in OPEN_UNLESS_TOLD and encrypted.text() != TRUE:
        found = encrypted.text() or "absent"
        yield Finding(f"Storage class '{storage_class.name}' has {encrypted.path} {found}; expected '{TRUE}'.")


RULE = Rule(
    id="HK-09",
    slug="volumes-are-encrypted",
    title="Storage classes must create encrypted volumes",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="EKS best practices, security (data encryption)",
    applies_to=resources_of("each storage class", r"kubernetes:storage\.k8s\.io/v1:StorageClass"),
    why="Volumes hold models, data and notebooks, and anyone with a copy of an unencrypted snapshot can read them.",
    fix=f"Set parameters.encrypted to '{TRUE}'. This replaces the class (parameters are immutable); existing volumes "
    "stay.",
    check=check,
)
