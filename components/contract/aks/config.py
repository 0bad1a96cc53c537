"""Stack file model of an AKS cluster, with the limits of Azure.

Everything else (roles, identities, tags, encryption, logs) follows from the environment and the pools.
"""

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.aks.access import Access
from components.contract.aks.api_zone import ApiZoneChoice, require_api_zone
from components.contract.aks.backup import AksBackupChoice
from components.contract.aks.hours import AksOfficeHours
from components.contract.aks.http_proxy import NodeProxy, TrustedCertificates
from components.contract.aks.ingress import AksIngressChoice
from components.contract.aks.maintenance import Maintenance, NodeImageChannel, UpgradeChannel
from components.contract.aks.names import AgentPoolName, ClusterName
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
    key_vault_id,
)
from components.contract.choices import ContractModel, Explained
from components.contract.gpu_choices import GpuChoices, GpuSoftware
from components.contract.images import Mirror, RegistryName
from components.contract.kubernetes_minors import NodeVersion, one_offered
from components.contract.ranges import differing, ipv4_network
from components.contract.tags import refuse_other_case

USER_TAGS_MAX: Final = 36
"""Maximum number of tags in a stack file. Azure allows 50 per resource; AKS and this package need the rest."""

USER_TAGS_MAX_PRIVATE: Final = 10
"""The same for a private cluster: AKS copies its tags to the private DNS zone, which allows 15.

https://learn.microsoft.com/azure/aks/use-tags
"""

NODES_SUBNET: Final = "nodes"
"""Name of the created network's subnet."""


class JobMix(StrEnum):
    """Profile of the autoscaler; ``autoscaling`` defines the settings of each."""

    BATCH = "batch"
    """For long batch jobs: nodes are filled well and kept for the next burst."""

    INTERACTIVE = "interactive"
    """For people waiting for notebooks and functions: nodes are added early and kept longer."""


Version = Annotated[str, *one_offered("aks", "is not a minor version that AKS supports")]


class AksConfig(ContractModel):
    """A managed cluster on Azure."""

    kind: Literal["aks"] = Field(description="Kind of cluster.", examples=["aks"])
    name: ClusterName = Field(
        description="Name of the cluster and its resource group, unique in the subscription. A change replaces both.",
        examples=["mlrun-dev"],
    )
    subscription_id: SubscriptionId = Field(
        description="Id of the subscription; the stack works in no other.",
        examples=["00000000-0000-0000-0000-000000000000"],
    )
    tenant_id: TenantId = Field(
        description="Id of the Entra ID tenant of the users.", examples=["99999999-9999-9999-9999-999999999999"]
    )
    location: Location = Field(description="Azure region.", examples=["westeurope"])
    zones: tuple[Zone, ...] = Field(
        description="Two or three availability zones, in quotes.", examples=[["1", "2", "3"]]
    )
    version: Version = Field(
        description="Minor version of Kubernetes, in quotes. Raise it by one at a time.", examples=["1.36"]
    )
    network: CreatedNetwork | ExistingNetwork = Field(
        discriminator="kind",
        description="A new network, or an existing one. Fixed when the cluster is created.",
        examples=[{"kind": "created", "cidr": "10.30.0.0/16"}],
    )
    pod_cidr: Annotated[PodCidr, Explained("The AKS default; several clusters may use the same range.")] = Field(
        "10.244.0.0/16",
        description="CIDR range of pods, outside the network; each node takes a /24. A change replaces the cluster.",
        examples=["100.64.0.0/14"],
    )
    service_cidr: Annotated[ServiceCidr, Explained("It does not overlap the ranges that most networks use.")] = Field(
        "172.20.0.0/16",
        description="CIDR range of Services. A change replaces the cluster.",
        examples=["10.100.0.0/16"],
    )
    authorized_ranges: Annotated[
        tuple[PublicRange, ...],
        AfterValidator(differing),
        Explained(
            "A private API cannot be attacked from the internet.",
            "Whether the cluster is private; switching replaces it.",
        ),
    ] = Field(
        (),
        max_length=PUBLIC_RANGES_MAX,
        description="CIDR ranges that may reach the API over the internet; empty makes the cluster private.",
        examples=[["203.0.113.0/24"]],
    )
    private_dns_zone_id: ApiZoneChoice = None
    access: Access = Field(
        description="Who has access to the cluster; there are no local accounts.",
        examples=[
            {
                "deployerObjectId": "11111111-1111-1111-1111-111111111111",
                "adminGroupIds": ["22222222-2222-2222-2222-222222222222"],
            }
        ],
    )
    secrets_key_id: Annotated[
        KeyVersionId | None, Explained("A platform-managed key; prod requires a customer-managed one.")
    ] = Field(
        None,
        description="Id of a Key Vault key version that encrypts Secrets. Never delete the key or its vault.",
        examples=[
            (
                "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/keys"
                "/providers/Microsoft.KeyVault/vaults/research/keys/aks/versions/0123456789abcdef0123456789abcdef"
            )
        ],
    )
    previous_secrets_key_id: Annotated[KeyVersionId | None, Explained("A new cluster has used no other key.")] = Field(
        None,
        description=(
            "Id of the former key, if `secretsKeyId` is now in another vault or removed. AKS still decrypts with it: "
            "rewrite all Secrets, and keep it here until the next change of `secretsKeyId`."
        ),
        examples=[
            (
                "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/keys"
                "/providers/Microsoft.KeyVault/vaults/retired/keys/aks/versions/0123456789abcdef0123456789abcdef"
            )
        ],
    )
    disk_encryption_set_id: Annotated[
        DiskEncryptionSetId | None, Explained("A platform-managed key; prod requires a customer-managed one.")
    ] = Field(
        None,
        description="Id of the disk encryption set for all disks. A change replaces the cluster.",
        examples=[
            (
                "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/keys"
                "/providers/Microsoft.Compute/diskEncryptionSets/research"
            )
        ],
    )
    proxy: NodeProxy = Field(None)
    trusted_certificates: TrustedCertificates = Field(())
    log_retention_days: Annotated[
        int | None, Explained("30 days in dev; 365 in prod, enough for most investigations.")
    ] = Field(None, ge=30, le=730, strict=True, description="Retention of logs in days.", examples=[90])
    root_volume_gib: Annotated[int, Explained("Machine learning images are large, and a node holds several.")] = Field(
        128,
        ge=30,
        le=2048,
        strict=True,
        description="Size of each node's disk in GiB. A change replaces the pools.",
        examples=[256],
    )
    created_with_pool: Annotated[
        AgentPoolName | None,
        Explained(
            "The pool of role initial is the one that the cluster was created with, which AKS keeps.",
            "Whether the pool of role initial is an agent pool of its own, and which one it takes over from "
            "(docs/node-upgrades.md).",
        ),
    ] = Field(
        None,
        description="Agent pool that the cluster was created with, once another one takes over as its system pool. "
        "Stays set for the life of the cluster.",
        examples=["initial"],
    )
    upgrade_channel: Annotated[
        UpgradeChannel | None, Explained("patch; none with data pools, because an upgrade erases their disks.")
    ] = Field(None, description="Automatic upgrades of the Kubernetes patch version.", examples=["patch"])
    node_version: NodeVersion[Version] = Field(None)
    node_image_channel: Annotated[
        NodeImageChannel | None, Explained("node-image; none with data pools, because a new image erases their disks.")
    ] = Field(None, description="Automatic updates of the node operating system.", examples=["security-patch"])
    maintenance: Annotated[Maintenance, Explained("Sunday night, when the fewest people work.")] = Field(
        Maintenance.model_validate({"day": "sunday", "startHour": 1, "hours": 6}),
        description="Weekly window for automatic upgrades.",
        examples=[{"day": "saturday", "startHour": 22, "hours": 8}],
    )
    office_hours: AksOfficeHours = None
    autoscaler: Annotated[JobMix, Explained("Most workloads are jobs.")] = Field(
        JobMix.BATCH, description="Profile of the autoscaler.", examples=["interactive"]
    )
    gpu: GpuSoftware = Field(GpuChoices())
    tags: Annotated[dict[TagKey, TagValue], Explained("Owners and cost centres differ between organisations.")] = Field(
        {},
        description="Tags of all resources; environment and managed-by are added if missing.",
        examples=[{"team": "ml-platform"}],
    )
    ingress: AksIngressChoice = None
    backup: AksBackupChoice = None
    image_registries: Annotated[dict[RegistryName, Mirror], Explained("Nodes reach both registries through NAT.")] = (
        Field(
            {},
            description="Mirror registries, by the registry that each replaces.",
            examples=[{"nvcr.io": "mirror.example.com"}],
        )
    )

    @field_validator("zones", mode="after")
    @classmethod
    def _several_zones(cls, zones: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(zones)) < len(zones):
            raise ValueError("lists a zone twice; remove one")
        if len(zones) < 2:  # noqa: PLR2004 the smallest number that survives the loss of one
            raise ValueError("must list 2 or 3 zones, so that the cluster survives the loss of one")
        return zones

    @field_validator("network", mode="after")
    @classmethod
    def _can_have_the_clusters_name(
        cls, network: CreatedNetwork | ExistingNetwork, info: ValidationInfo
    ) -> CreatedNetwork | ExistingNetwork:
        # MicrosoftDocs/azure-docs, articles/azure-resource-manager/management/resource-name-rules.md (2020).
        if isinstance(network, CreatedNetwork) and len(info.data.get("name", "")) == 1:
            raise ValueError("gets the cluster's name, but a network's needs 2 characters in Azure; change name")
        return network

    @field_validator("pod_cidr", "service_cidr", mode="after")
    @classmethod
    def _beside_the_others(cls, cidr: str, info: ValidationInfo) -> str:
        network = info.data.get("network")
        others = {"network.cidr": network.cidr if network else None, "podCidr": info.data.get("pod_cidr")}
        for key, other in others.items():
            if other and ipv4_network(other).overlaps(ipv4_network(cidr)):
                raise ValueError(f"overlaps {key} {other}; change one")
        return cidr

    @field_validator("private_dns_zone_id", mode="after")
    @classmethod
    def _takes_the_name_of_the_api(cls, zone: str | None, info: ValidationInfo) -> str | None:
        if zone and info.data.get("authorized_ranges"):
            raise ValueError("is for private clusters, and authorizedRanges makes this one public; remove one")
        if zone and (location := info.data.get("location")):
            require_api_zone(zone, location)
        return zone

    @field_validator("tags", mode="after")
    @classmethod
    def _leave_room(cls, tags: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        limit = USER_TAGS_MAX if info.data.get("authorized_ranges", True) else USER_TAGS_MAX_PRIVATE
        if len(tags) > limit:
            why = "Azure allows 50" if limit == USER_TAGS_MAX else "a private cluster's DNS zone takes 15"
            raise ValueError(
                f"has {len(tags)} tags, at most {limit} are allowed: {why}, AKS and this package need the rest"
            )
        refuse_other_case([AzureTag.ENVIRONMENT, AzureTag.MANAGED_BY], tags, "Azure")
        return tags

    @field_validator("node_version", mode="after")
    @classmethod
    def _left_behind(cls, nodes: str | None, info: ValidationInfo) -> str | None:
        is_behind = nodes and nodes != info.data.get("version", nodes)
        # https://learn.microsoft.com/azure/aks/upgrade-aks-control-plane
        if is_behind and info.data.get("upgrade_channel") is not UpgradeChannel.NONE:
            raise ValueError("needs upgradeChannel: none, or AKS upgrades all pools with the control plane")
        return nodes

    @property
    def version_of_nodes(self) -> str:
        """Minor version of the nodes."""
        return self.node_version or self.version

    @property
    def is_private(self) -> bool:
        """Whether the API is reachable only inside the network."""
        return not self.authorized_ranges

    @property
    def resource_group(self) -> str:
        """Name of the resource group of everything that the stack creates."""
        return self.name

    @property
    def node_resource_group(self) -> str:
        """Name of the resource group in which AKS creates nodes; it must not exist before."""
        return f"{self.name}-nodes"

    @property
    def group_id(self) -> str:
        """Id of the resource group."""
        return f"/subscriptions/{self.subscription_id}/resourceGroups/{self.resource_group}"

    @property
    def cluster_id(self) -> str:
        """Id of the cluster, known before it is created."""
        return f"{self.group_id}/providers/Microsoft.ContainerService/managedClusters/{self.name}"

    @property
    def node_subnet_id(self) -> str:
        """Id of the subnet of all nodes, known before it is created."""
        if isinstance(self.network, ExistingNetwork):
            return self.network.node_subnet_id
        return f"{self.group_id}/providers/Microsoft.Network/virtualNetworks/{self.name}/subnets/{NODES_SUBNET}"

    @property
    def key_vault_ids(self) -> tuple[str, ...]:
        """Ids of the vaults whose keys encrypt Secrets, that of the current key first."""
        vaults = dict[str, str]()
        for key in filter(None, (self.secrets_key_id, self.previous_secrets_key_id)):
            vaults.setdefault(key_vault_id(key).lower(), key_vault_id(key))
        return tuple(vaults.values())

    @property
    def network_id(self) -> str:
        """Id of the network that contains that subnet."""
        return self.node_subnet_id.rpartition("/subnets/")[0]

    @property
    def dns_address(self) -> str:
        """Address of the cluster's DNS."""
        return str(ipv4_network(self.service_cidr)[DNS_ADDRESS])
