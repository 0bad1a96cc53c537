"""Who may reach an EKS cluster: access entries, by name."""

from enum import StrEnum
from typing import Final, Self

from pydantic import Field, field_validator, model_validator

from components.contract.aws import RoleArn
from components.contract.labels import is_dns_label
from components.contract.pools import ContractModel


class AccessLevel(StrEnum):
    """What an entry may do: EKS's own policies, in Kubernetes' words for them."""

    VIEW = "view"
    EDIT = "edit"
    ADMIN = "admin"
    CLUSTER_ADMIN = "cluster-admin"

    @property
    def policy_arn(self) -> str:
        """Return the access policy: https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html."""
        name = {
            AccessLevel.VIEW: "AmazonEKSViewPolicy",
            AccessLevel.EDIT: "AmazonEKSEditPolicy",
            AccessLevel.ADMIN: "AmazonEKSAdminPolicy",
            AccessLevel.CLUSTER_ADMIN: "AmazonEKSClusterAdminPolicy",
        }[self]
        return f"arn:aws:eks::aws:cluster-access-policy/{name}"


DEPLOYER: Final = "deployer"
BREAK_GLASS: Final = "break-glass"
"""Names of the two entries that every cluster has."""


class AccessEntry(ContractModel):
    """One role and what it may do."""

    role_arn: RoleArn = Field(description="The role that people or a pipeline assume.")
    level: AccessLevel = Field(description="view, edit, admin or cluster-admin.")
    namespaces: tuple[str, ...] = Field((), description="Where; empty: everywhere.")
    groups: tuple[str, ...] = Field((), description="Kubernetes groups, for roles bound in the cluster.")

    @field_validator("namespaces", mode="after")
    @classmethod
    def _namespaces(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        illegal = [name for name in names if not is_dns_label(name)]
        if illegal:
            raise ValueError(f"{illegal} are no names of namespaces")
        return names

    @field_validator("groups", mode="after")
    @classmethod
    def _groups(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        # https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
        reserved = [n for n in names if n.startswith(("system:", "eks:", "aws:", "amazon:", "iam:"))]
        if reserved:
            raise ValueError(f"groups {reserved} begin like groups of Kubernetes or AWS, which EKS refuses")
        return names

    @model_validator(mode="after")
    def _cluster_admin_is_everywhere(self) -> Self:
        if self.level is AccessLevel.CLUSTER_ADMIN and self.namespaces:
            raise ValueError("level cluster-admin has no namespaces; use admin for some of them")
        return self


class Access(ContractModel):
    """The entries of a cluster. EKS makes those of its nodes itself."""

    deployer_role_arn: RoleArn = Field(description="The role that runs Pulumi: it makes the objects in the cluster.")
    break_glass_role_arn: RoleArn = Field(description="The role for the day when nothing else works; nobody's own.")
    entries: dict[str, AccessEntry] = Field(default_factory=dict, description="Further entries by name.")

    @field_validator("entries", mode="after")
    @classmethod
    def _entry_names(cls, entries: dict[str, AccessEntry]) -> dict[str, AccessEntry]:
        illegal = [n for n in entries if not is_dns_label(n) or n in (DEPLOYER, BREAK_GLASS)]
        if illegal:
            raise ValueError(
                f"entry names {illegal} must be 1 to 63 lower-case letters, digits or '-', "
                f"and neither '{DEPLOYER}' nor '{BREAK_GLASS}'"
            )
        return entries

    @model_validator(mode="after")
    def _principals_differ(self) -> Self:
        # A second entry of the same principal is refused by EKS, in the middle of the deployment.
        arns = [entry.role_arn for entry in self.all_entries.values()]
        twice = sorted({arn for arn in arns if arns.count(arn) > 1})
        if twice:
            raise ValueError(f"a role has one entry, given twice: {', '.join(twice)}")
        return self

    @property
    def all_entries(self) -> dict[str, AccessEntry]:
        """All entries by name, the two fixed ones first."""
        return {
            DEPLOYER: AccessEntry.model_validate({"roleArn": self.deployer_role_arn, "level": "cluster-admin"}),
            BREAK_GLASS: AccessEntry.model_validate({"roleArn": self.break_glass_role_arn, "level": "cluster-admin"}),
            **self.entries,
        }
