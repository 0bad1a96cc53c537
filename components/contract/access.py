"""Access levels and entry names that all clouds share."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo

from components.contract.choices import Explained
from components.contract.labels import is_dns_label


class AccessLevel(StrEnum):
    """Permissions of an entry, in Kubernetes' terms; each cloud has a policy or role for each level."""

    VIEW = "view"
    EDIT = "edit"
    ADMIN = "admin"
    CLUSTER_ADMIN = "cluster-admin"


DEPLOYER: Final = "deployer"
"""Name of the deployer's entry, the identity that runs Pulumi; every cluster has it."""


def _namespace(name: str) -> str:
    if not is_dns_label(name):
        raise ValueError("is not a valid namespace name")
    return name


def _fit_the_level(names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("lists a namespace twice; remove one")
    if names and info.data.get("level", "invalid") is None:
        raise ValueError("limits a level, and the entry has none; remove it, or add a level")
    if names and info.data.get("level") is AccessLevel.CLUSTER_ADMIN:
        raise ValueError("level cluster-admin applies to all namespaces; use admin to limit access to some")
    return names


NamespacesOfEntry = Annotated[
    tuple[Annotated[str, AfterValidator(_namespace)], ...],
    AfterValidator(_fit_the_level),
    Explained("Monitoring and operations need every namespace."),
    Field(description="Namespaces in which the level applies; empty means all.", examples=[["mlrun"]]),
]
"""Namespaces of an entry, a field after its ``level``."""


def unless_fixed(*fixed: str) -> AfterValidator:
    """Return a validator of an entry's name, which rejects reserved names."""
    quoted = " nor ".join(f"'{name}'" for name in fixed)
    others = f"neither {quoted}" if len(fixed) > 1 else f"not {quoted}"

    def check(name: str) -> str:
        if not is_dns_label(name) or name in fixed:
            raise ValueError(f"an entry's name must be 1 to 63 lower-case letters, digits or '-', and {others}")
        return name

    return AfterValidator(check)
