"""HK-09: a copied or discarded volume is of no use to anybody."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from components.contract.labels import TRUE
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of

OPEN_UNLESS_TOLD: Final = ("ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com", "kubernetes.io/aws-ebs")
"""Drivers that leave encryption to the class. Azure encrypts every managed disk, whatever its class says:
https://learn.microsoft.com/en-us/azure/aks/azure-disk-customer-managed-keys.
"""


def check(storage_class: Resource, _: Context) -> Iterator[Finding]:
    """Demand encryption in the class; an account's own default is nothing that the stack could show."""
    encrypted = storage_class.props.at("parameters", "encrypted")
    if storage_class.props.at("provisioner").text() in OPEN_UNLESS_TOLD and encrypted.text() != TRUE:
        found = encrypted.text() or "absent"
        yield Finding(f"Storage class '{storage_class.name}' has {encrypted.path} {found}, wanted '{TRUE}'.")


RULE = Rule(
    id="HK-09",
    slug="volumes-are-encrypted",
    title="Storage classes make encrypted volumes",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="EKS best practices, security (data encryption)",
    applies_to=resources_of("each storage class", r"kubernetes:storage\.k8s\.io/v1:StorageClass"),
    why="Volumes hold models, data and notebooks; snapshots of an open volume can be read wherever they are copied.",
    fix=f"Set parameters.encrypted to '{TRUE}'. Parameters are immutable: the class is replaced, its volumes stay.",
    check=check,
)
