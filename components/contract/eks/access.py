"""Access to an EKS cluster: access entries, by name."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.access import DEPLOYER, AccessLevel, NamespacesOfEntry, unless_fixed
from components.contract.aws import RoleArn
from components.contract.choices import ContractModel, Explained, Findings


def policy_arn(level: AccessLevel) -> str:
    """Return EKS's policy: https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html."""
    name = {
        AccessLevel.VIEW: "AmazonEKSViewPolicy",
        AccessLevel.EDIT: "AmazonEKSEditPolicy",
        AccessLevel.ADMIN: "AmazonEKSAdminPolicy",
        AccessLevel.CLUSTER_ADMIN: "AmazonEKSClusterAdminPolicy",
    }[level]
    return f"arn:aws:eks::aws:cluster-access-policy/{name}"


BREAK_GLASS: Final = "break-glass"
"""Name of the break-glass entry, which every cluster has."""

RESERVED_GROUPS: Final = ("system:", "eks:", "aws:", "amazon:", "iam:")
"""Prefixes that EKS refuses: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html."""


def _group(name: str) -> str:
    if not name or name.startswith(RESERVED_GROUPS):
        raise ValueError("has a prefix reserved for Kubernetes or AWS, which EKS rejects; choose another name")
    return name


EntryName = Annotated[str, unless_fixed(DEPLOYER, BREAK_GLASS)]


class AccessEntry(ContractModel):
    """One role and what it may do."""

    role_arn: RoleArn = Field(
        description="ARN of the role that people or a pipeline assume.",
        examples=["arn:aws:iam::111122223333:role/platform"],
    )
    level: Annotated[
        AccessLevel | None,
        Explained("An entry with groups has the rights of their role bindings, such as those of `people`."),
    ] = Field(None, description="Level of access in addition to that of the groups.", examples=["view"])
    namespaces: NamespacesOfEntry = ()
    groups: Annotated[
        tuple[Annotated[str, AfterValidator(_group)], ...],
        Explained("Most entries need only the level."),
    ] = Field(
        (), description="Kubernetes groups of the role, for role bindings in the cluster.", examples=[["ml-team"]]
    )

    @field_validator("groups", mode="after")
    @classmethod
    def _permit_something(cls, groups: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not groups and info.data.get("level", "invalid") is None:
            raise ValueError(
                "is empty and there is no level, so the entry permits nothing; add a level, or groups that `people` or "
                "a role binding names"
            )
        return groups


class Access(ContractModel):
    """The entries of a cluster. EKS creates those of its nodes itself."""

    deployer_role_arn: RoleArn = Field(
        description="ARN of the role that runs Pulumi and creates the objects in the cluster.",
        examples=["arn:aws:iam::111122223333:role/deployer"],
    )
    break_glass_role_arn: RoleArn = Field(
        description="ARN of the role for emergency admin access; not for daily use.",
        examples=["arn:aws:iam::111122223333:role/break-glass"],
    )
    entries: Annotated[dict[EntryName, AccessEntry], Explained("Access must be granted explicitly.")] = Field(
        {},
        description="Additional access entries by name.",
        examples=[{"platform": {"roleArn": "arn:aws:iam::111122223333:role/platform", "level": "view"}}],
    )

    @field_validator("break_glass_role_arn", mode="after")
    @classmethod
    def _is_not_the_deployer(cls, arn: str, info: ValidationInfo) -> str:
        if arn == info.data.get("deployer_role_arn"):
            raise ValueError("is also the deployer's role; emergency access must not depend on it, use another role")
        return arn

    @field_validator("entries", mode="after")
    @classmethod
    def _principals_differ(cls, entries: dict[str, AccessEntry], info: ValidationInfo) -> dict[str, AccessEntry]:
        # EKS would refuse a second entry of the same principal in the middle of the deployment.
        seen = {info.data.get("deployer_role_arn"): DEPLOYER, info.data.get("break_glass_role_arn"): BREAK_GLASS}
        findings = Findings()
        for name, entry in entries.items():
            if (first := seen.setdefault(entry.role_arn, name)) != name:
                message = f"a role can have one entry only, and '{first}' already names this one; merge them"
                findings.add(message, name, "roleArn", given=entry.role_arn)
        findings.raise_if_any()
        return entries

    @property
    def all_entries(self) -> dict[str, AccessEntry]:
        """All entries by name, the two fixed ones first."""
        return {
            DEPLOYER: AccessEntry.model_validate({"roleArn": self.deployer_role_arn, "level": "cluster-admin"}),
            BREAK_GLASS: AccessEntry.model_validate({"roleArn": self.break_glass_role_arn, "level": "cluster-admin"}),
            **self.entries,
        }
