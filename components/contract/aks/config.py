"""What a stack file may choose about an AKS cluster, and the limits that Azure sets to it.

Everything else (roles, identities, tags, encryption, logs) follows from the environment and the pools.
"""

import re
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.aks.access import Access
from components.contract.aks.network import (
    DNS_ADDRESS,
    PUBLIC_RANGES_MAX,
    CreatedNetwork,
    ExistingNetwork,
    PodCidr,
    PublicRange,
    ServiceCidr,
    Zone,
)
from components.contract.azure import (
    AzureTag,
    DiskEncryptionSetId,
    KeyVersionId,
    Location,
    SubscriptionId,
    TagKey,
    TagValue,
    TenantId,
)
from components.contract.choices import ContractModel, Explained, Findings, one_of
from components.contract.images import Mirror
from components.contract.kubernetes_minors import one_offered
from components.contract.ranges import differing, ipv4_network
from components.contract.tags import differing_in_case

IMAGE_REGISTRIES: Final = ("nvcr.io",)
"""Where the images of our own manifests come from; a mirror may stand in for each."""

USER_TAGS_MAX: Final = 36
"""Tags that a stack file may add. Azure allows 50 a resource; AKS and this package need the rest."""

USER_TAGS_MAX_PRIVATE: Final = 10
"""The same of a private cluster: AKS copies its tags to the private DNS zone, which takes 15.

https://learn.microsoft.com/azure/aks/use-tags
"""

RESERVED_WORDS: Final = ("microsoft", "windows")
"""Words that no name with an address may hold, nor may it begin with ``login``.

https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-reserved-resource-name
"""

NODES_SUBNET: Final = "nodes"
"""Name of the created network's subnet."""


class UpgradeChannel(StrEnum):
    """Who raises the patch version. Channels that raise the minor one would fight the stack file's ``version``."""

    PATCH = "patch"
    NONE = "none"


class NodeImageChannel(StrEnum):
    """How nodes get fixes of their operating system, in the stack file's spelling."""

    NODE_IMAGE = "node-image"
    """A new image every week, node by node."""

    SECURITY_PATCH = "security-patch"
    """Fixes of holes only, mostly without a new node."""

    NONE = "none"
    """Whoever runs the cluster does it."""

    @property
    def azure(self) -> str:
        """Azure's spelling (``NodeImage``)."""
        return self.value.title().replace("-", "")


class WeekDay(StrEnum):
    """Day of the week, in UTC."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"

    @property
    def azure(self) -> str:
        """Azure's spelling (``Monday``)."""
        return self.value.title()


class JobMix(StrEnum):
    """Which work the autoscaler is set up for; ``autoscaling`` has the settings of each."""

    BATCH = "batch"
    """Long jobs that come in bursts: nodes are filled well, and wait for the next burst."""

    INTERACTIVE = "interactive"
    """People wait for their notebooks and functions: nodes come early and stay longer."""


class Maintenance(ContractModel):
    """When AKS may upgrade by itself, every week."""

    day: WeekDay = Field(description="Day of the week, UTC.", examples=["sunday"])
    start_hour: int = Field(ge=0, le=23, strict=True, description="Hour at which it begins, UTC.", examples=[2])
    # Below four hours AKS may not finish, and then does not begin.
    # https://learn.microsoft.com/azure/aks/planned-maintenance
    hours: int = Field(ge=4, le=24, strict=True, description="How long it lasts.", examples=[6])

    @property
    def start_time(self) -> str:
        """Its beginning as Azure writes it, such as ``02:00``."""
        return f"{self.start_hour:02}:00"


def _name(name: str) -> str:
    if not re.fullmatch(_NAME, name):
        raise ValueError("1 to 54 lower-case letters, digits or '-', a letter first, no '-' at the end")
    for word in RESERVED_WORDS:
        if word in name:
            raise ValueError(f"Azure lets no name hold '{word}'")
    if name.startswith("login"):
        raise ValueError("Azure lets no name begin with 'login'")
    return name


Version = Annotated[str, *one_offered("aks", "no minor version that AKS supports")]
RegistryName = Annotated[str, *one_of(IMAGE_REGISTRIES, "registry")]

_NAME: Final = "[a-z]([a-z0-9-]{0,52}[a-z0-9])?"


class AksConfig(ContractModel):
    """A managed cluster on Azure."""

    kind: Literal["aks"] = Field(description="Where the cluster lives.", examples=["aks"])
    name: Annotated[str, AfterValidator(_name), Field(json_schema_extra={"pattern": f"^{_NAME}$"})] = Field(
        description="Name of the cluster and its resource group, unique in the subscription. A change makes new ones.",
        examples=["mlrun-dev"],
    )
    subscription_id: SubscriptionId = Field(
        description="The one subscription in which this stack may work.",
        examples=["00000000-0000-0000-0000-000000000000"],
    )
    tenant_id: TenantId = Field(
        description="The tenant of Entra ID that knows the people.", examples=["99999999-9999-9999-9999-999999999999"]
    )
    location: Location = Field(description="Region of Azure.", examples=["westeurope"])
    zones: tuple[Zone, ...] = Field(
        description="Two or three availability zones, in quotes.", examples=[["1", "2", "3"]]
    )
    version: Version = Field(
        description="Minor version of Kubernetes, in quotes. Raise it by one at a time.", examples=["1.35"]
    )
    network: CreatedNetwork | ExistingNetwork = Field(
        discriminator="kind",
        description="A network of its own, or one that somebody else owns.",
        examples=[{"kind": "created", "cidr": "10.30.0.0/16"}],
    )
    pod_cidr: Annotated[PodCidr, Explained("AKS's own; other clusters and networks may use it too.")] = Field(
        "10.244.0.0/16",
        description="Addresses of pods, outside of the network; each node takes /24. A change makes a new cluster.",
        examples=["100.64.0.0/14"],
    )
    service_cidr: Annotated[ServiceCidr, Explained("Outside of what most networks use.")] = Field(
        "172.20.0.0/16",
        description="Addresses of Services. A change makes a new cluster.",
        examples=["10.100.0.0/16"],
    )
    authorized_ranges: Annotated[
        tuple[PublicRange, ...],
        Explained(
            "Nobody attacks what cannot be reached.", "Whether the cluster is private; a change makes a new one."
        ),
    ] = Field(
        (),
        max_length=PUBLIC_RANGES_MAX,
        description="Who may reach the API from the internet; empty: nobody, the cluster is private.",
        examples=[["203.0.113.0/24"]],
    )
    access: Access = Field(
        description="Who may do what; there are no local accounts.",
        examples=[
            {
                "deployerObjectId": "11111111-1111-1111-1111-111111111111",
                "adminGroupIds": ["22222222-2222-2222-2222-222222222222"],
            }
        ],
    )
    secrets_key_id: Annotated[
        KeyVersionId | None, Explained("Azure's own key; prod demands one that the company holds.")
    ] = Field(
        None,
        description="Version of a Key Vault key for Secrets, by its id. Never delete key or vault.",
        examples=[
            (
                "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/keys"
                "/providers/Microsoft.KeyVault/vaults/research/keys/aks/versions/0123456789abcdef0123456789abcdef"
            )
        ],
    )
    disk_encryption_set_id: Annotated[
        DiskEncryptionSetId | None, Explained("Azure's own key; prod demands one that the company holds.")
    ] = Field(
        None,
        description="Key of all disks, by the id of its set. A change makes a new cluster.",
        examples=[
            (
                "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/keys"
                "/providers/Microsoft.Compute/diskEncryptionSets/research"
            )
        ],
    )
    log_retention_days: Annotated[
        int | None, Explained("30 days in dev; 365 in prod, since a year outlives most investigations.")
    ] = Field(None, ge=30, le=730, strict=True, description="How long logs are kept.", examples=[90])
    root_volume_gib: Annotated[int, Explained("Images of machine learning are large, and several lie on a node.")] = (
        Field(
            128,
            ge=30,
            le=2048,
            strict=True,
            description="Disk of every node. A change makes new pools.",
            examples=[256],
        )
    )
    upgrade_channel: Annotated[
        UpgradeChannel | None, Explained("patch; none beside data pools, whose disks an upgrade erases.")
    ] = Field(None, description="Who raises the patch version of Kubernetes.", examples=["patch"])
    node_image_channel: Annotated[
        NodeImageChannel | None, Explained("node-image; none beside data pools, whose disks a new image erases.")
    ] = Field(None, description="How nodes get fixes of their system.", examples=["security-patch"])
    maintenance: Annotated[Maintenance, Explained("The night in which fewest people work.")] = Field(
        Maintenance.model_validate({"day": "sunday", "startHour": 1, "hours": 6}),
        description="When AKS may upgrade by itself.",
        examples=[{"day": "saturday", "startHour": 22, "hours": 8}],
    )
    autoscaler: Annotated[JobMix, Explained("Most of the work is jobs.")] = Field(
        JobMix.BATCH, description="Which work the autoscaler is set up for.", examples=["interactive"]
    )
    tags: Annotated[dict[TagKey, TagValue], Explained("Cost centres and owners are yours to name.")] = Field(
        {},
        description="On everything; environment and managed-by are added if not named here.",
        examples=[{"team": "ml-platform"}],
    )
    image_registries: Annotated[dict[RegistryName, Mirror], Explained("Nodes reach it through NAT.")] = Field(
        {}, description="Mirrors by the registry they replace.", examples=[{"nvcr.io": "mirror.example.com"}]
    )

    @field_validator("zones", mode="after")
    @classmethod
    def _several_zones(cls, zones: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(zones)) < len(zones):
            raise ValueError("names a zone twice")
        if len(zones) < 2:  # noqa: PLR2004 the smallest number that survives the loss of one
            raise ValueError("a cluster has 2 or 3 zones, so that it survives the loss of one")
        return zones

    @field_validator("pod_cidr", "service_cidr", mode="after")
    @classmethod
    def _beside_the_others(cls, cidr: str, info: ValidationInfo) -> str:
        network = info.data.get("network")
        others = {"network.cidr": network.cidr if network else None, "podCidr": info.data.get("pod_cidr")}
        for key, other in others.items():
            if other and ipv4_network(other).overlaps(ipv4_network(cidr)):
                raise ValueError(f"overlaps {key} {other}; move one")
        return cidr

    @field_validator("authorized_ranges", mode="after")
    @classmethod
    def _differ(cls, ranges: tuple[str, ...]) -> tuple[str, ...]:
        return differing(ranges)

    @field_validator("tags", mode="after")
    @classmethod
    def _leave_room(cls, tags: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        limit = USER_TAGS_MAX if info.data.get("authorized_ranges", True) else USER_TAGS_MAX_PRIVATE
        if len(tags) > limit:
            why = "Azure allows 50" if limit == USER_TAGS_MAX else "a private cluster's DNS zone takes 15"
            raise ValueError(f"{len(tags)} tags, at most {limit}: {why}, AKS and this package need the rest")
        findings = Findings()
        for key, first in differing_in_case([AzureTag.ENVIRONMENT, AzureTag.MANAGED_BY, *tags]):
            findings.add(f"differs from '{first}' in case only, which Azure takes for one tag; spell it '{first}'", key)
        findings.raise_if_any()
        return tags

    @property
    def is_private(self) -> bool:
        """Whether the API answers inside the network only."""
        return not self.authorized_ranges

    @property
    def resource_group(self) -> str:
        """Name of the group of everything that this package makes."""
        return self.name

    @property
    def node_resource_group(self) -> str:
        """Name of the group in which AKS puts nodes; it must not exist before."""
        return f"{self.name}-nodes"

    @property
    def group_id(self) -> str:
        """Id of the resource group."""
        return f"/subscriptions/{self.subscription_id}/resourceGroups/{self.resource_group}"

    @property
    def cluster_id(self) -> str:
        """Id of the cluster, known before it is made."""
        return f"{self.group_id}/providers/Microsoft.ContainerService/managedClusters/{self.name}"

    @property
    def node_subnet_id(self) -> str:
        """Id of the subnet of all nodes, known before it is made."""
        if isinstance(self.network, ExistingNetwork):
            return self.network.node_subnet_id
        return f"{self.group_id}/providers/Microsoft.Network/virtualNetworks/{self.name}/subnets/{NODES_SUBNET}"

    @property
    def network_id(self) -> str:
        """Id of the network in which that subnet lies."""
        return self.node_subnet_id.rpartition("/subnets/")[0]

    @property
    def dns_address(self) -> str:
        """Address of the cluster's DNS."""
        return str(ipv4_network(self.service_cidr)[DNS_ADDRESS])
