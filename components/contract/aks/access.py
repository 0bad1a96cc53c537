"""Access to an AKS cluster: principals of Entra ID, by name, with Azure's roles for Kubernetes."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from components.contract.access import DEPLOYER, AccessLevel, NamespacesOfEntry, unless_fixed
from components.contract.azure import ObjectId
from components.contract.choices import ContractModel, Explained, Findings


class PrincipalKind(StrEnum):
    """Type of principal behind an object id. Azure requires it and rejects a wrong one."""

    GROUP = "group"
    SERVICE_PRINCIPAL = "service-principal"
    USER = "user"

    @property
    def azure(self) -> str:
        """Azure's spelling (``ServicePrincipal``)."""
        return self.value.title().replace("-", "")


def role_id(level: AccessLevel) -> str:
    """Return the built-in role: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/containers."""
    return {
        AccessLevel.VIEW: "7f6c6a51-bcf8-42ba-9220-52d62157d7db",
        AccessLevel.EDIT: "a7ffa36f-339b-4b5c-8bdf-e2c188b2c0eb",
        AccessLevel.ADMIN: "3498e952-d568-435e-9b2c-8d77e338d7f7",
        AccessLevel.CLUSTER_ADMIN: "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b",
    }[level]


EntryName = Annotated[str, unless_fixed(DEPLOYER)]


class AccessEntry(ContractModel):
    """One principal and its permissions."""

    object_id: ObjectId = Field(
        description="Object id of the group, or of the principal whose type `principal` sets.",
        examples=["33333333-3333-3333-3333-333333333333"],
    )
    level: AccessLevel = Field(description="Level of access.", examples=["view"])
    principal: Annotated[PrincipalKind, Explained("Groups stay valid when people join or leave.")] = Field(
        PrincipalKind.GROUP, description="Type of the principal.", examples=["service-principal"]
    )
    namespaces: NamespacesOfEntry = ()


class Access(ContractModel):
    """Access to the cluster. There are no local accounts; users authenticate through Entra ID."""

    deployer_object_id: ObjectId = Field(
        description="Object id of the identity that runs Pulumi and creates the objects in the cluster.",
        examples=["11111111-1111-1111-1111-111111111111"],
    )
    deployer_principal: Annotated[
        PrincipalKind, Explained("A pipeline uses a workload identity, which has no secret.")
    ] = Field(PrincipalKind.SERVICE_PRINCIPAL, description="Type of the deployer's principal.", examples=["group"])
    admin_group_ids: tuple[ObjectId, ...] = Field(
        min_length=1,
        description="Object ids of groups with emergency admin access to the cluster.",
        examples=[["22222222-2222-2222-2222-222222222222"]],
    )
    entries: Annotated[dict[EntryName, AccessEntry], Explained("Access must be granted explicitly.")] = Field(
        {},
        description="Additional access entries by name.",
        examples=[{"platform": {"objectId": "33333333-3333-3333-3333-333333333333", "level": "view"}}],
    )

    @field_validator("admin_group_ids", mode="after")
    @classmethod
    def _are_others_than_the_deployer(cls, groups: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        findings, deployer = Findings(), info.data.get("deployer_object_id")
        for index, group in enumerate(groups):
            if group in groups[:index]:
                findings.add("lists the same group twice; remove one", index, given=group)
            elif group == deployer:
                findings.add(
                    "is also the deployer; emergency access must not depend on it, use another group",
                    index,
                    given=group,
                )
        findings.raise_if_any()
        return groups

    @field_validator("entries", mode="after")
    @classmethod
    def _principals_differ(cls, entries: dict[str, AccessEntry], info: ValidationInfo) -> dict[str, AccessEntry]:
        # Azure would refuse a second assignment of the same role in the middle of the deployment. One of another level
        # would make the first entry misleading, because Azure adds up the roles of a principal.
        seen = {info.data.get("deployer_object_id"): DEPLOYER}
        seen.update(dict.fromkeys(info.data.get("admin_group_ids", ()), "adminGroupIds"))
        findings = Findings()
        for name, entry in entries.items():
            if (first := seen.setdefault(entry.object_id, name)) != name:
                message = f"a principal can have one entry only, and '{first}' already names this one; merge them"
                findings.add(message, name, "objectId", given=entry.object_id)
        findings.raise_if_any()
        return entries

    @property
    def all_entries(self) -> dict[str, AccessEntry]:
        """All entries by name, the deployer's first. AKS itself handles the admin groups."""
        deployer = AccessEntry.model_validate(
            {
                "objectId": self.deployer_object_id,
                "level": AccessLevel.CLUSTER_ADMIN,
                "principal": self.deployer_principal,
            }
        )
        return {DEPLOYER: deployer, **self.entries}
