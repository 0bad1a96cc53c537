"""Stack file model of an EKS cluster, with the limits of AWS.

Everything else (roles, add-ons, tags, encryption, logs) follows from the environment and the pools.
"""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.aws import (
    AccountId,
    BoundaryArn,
    KeyArn,
    OwnTag,
    Region,
    TagKey,
    TagValue,
    account_of,
    key_region,
    region_of,
)
from components.contract.choices import ContractModel, Explained, Findings
from components.contract.eks.access import Access
from components.contract.eks.backup import EksBackupChoice
from components.contract.eks.hours import EksOfficeHours
from components.contract.eks.images import ImageCaches, NodeMirrors
from components.contract.eks.ingress import EksIngress, EksIngressChoice
from components.contract.eks.network import (
    CLIENT_CIDRS_MAX,
    PUBLIC_CIDRS_MAX,
    ZONES_MAX,
    ClientCidr,
    CreatedNetwork,
    ExistingNetwork,
    PodRange,
    PrefixDelegation,
    PublicCidr,
    ServiceCidr,
    Zone,
    pod_range_problem,
)
from components.contract.eks.user_data import (
    PROXY_RELEASE_MIN,
    NodeProxy,
    TrustedCertificates,
    proxy_environment,
    user_data,
)
from components.contract.eks.values import (
    CNI,
    CNI_MIN,
    AddonName,
    AddonVersion,
    ClusterName,
    NodeRelease,
    RetentionDays,
    Version,
    number,
    other_account,
)
from components.contract.gpu_choices import GpuChoices, GpuSoftware
from components.contract.images import Mirror, RegistryName
from components.contract.kubernetes_minors import NodeVersion
from components.contract.ranges import differing, ipv4_network
from components.contract.tags import refuse_other_case

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""All control plane logs: https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html."""

USER_TAGS_MAX: Final = 39
"""Maximum number of tags in a stack file. AWS allows 50 per resource; EKS and this package need the rest."""


class EksConfig(ContractModel):
    """A managed cluster on AWS."""

    kind: Literal["eks"] = Field(description="Kind of cluster.", examples=["eks"])
    name: ClusterName = Field(
        description="Name of the cluster, unique in account and region. A change replaces the cluster.",
        examples=["mlrun-dev"],
    )
    account_id: AccountId = Field(
        description="Id of the AWS account, in quotes; the stack works in no other.", examples=["111122223333"]
    )
    region: Region = Field(description="AWS region.", examples=["eu-west-1"])
    zones: tuple[Zone, ...] = Field(
        description="Letters of two or three availability zones. Fixed when the cluster is created.",
        examples=[["a", "b", "c"]],
    )
    version: Version = Field(
        description="Minor version of Kubernetes, in quotes. Raise it by one at a time.", examples=["1.36"]
    )
    network: CreatedNetwork | ExistingNetwork = Field(
        discriminator="kind",
        description="A new VPC, or an existing one. Fixed when the cluster is created.",
        examples=[{"kind": "created", "cidr": "10.20.0.0/16"}],
    )
    service_cidr: Annotated[ServiceCidr, Explained("It does not overlap the ranges that most VPCs use.")] = Field(
        "172.20.0.0/16",
        description="CIDR range of Services. A change replaces the cluster.",
        examples=["10.100.0.0/16"],
    )
    public_access_cidrs: Annotated[
        tuple[PublicCidr, ...],
        AfterValidator(differing),
        Explained(
            "A private API cannot be attacked from the internet.",
            "The public endpoint; VPC endpoints if there is none.",
        ),
    ] = Field(
        (),
        max_length=PUBLIC_CIDRS_MAX,
        description="CIDR ranges that may reach the API over the internet; empty means none.",
        examples=[["203.0.113.0/24"]],
    )
    api_client_cidrs: Annotated[
        tuple[ClientCidr, ...],
        AfterValidator(differing),
        Explained(
            "Only the owner of the network knows them. A new cluster with a private API needs one.",
            "Ingress rules for port 443 on the cluster's security group.",
        ),
    ] = Field(
        (),
        max_length=CLIENT_CIDRS_MAX,
        description="CIDR ranges that may reach the API inside the VPC: of the pipeline and the VPN.",
        examples=[["10.60.0.0/16"]],
    )
    access: Access = Field(
        description="Who has access to the cluster; its creator gets none by default.",
        examples=[
            {
                "deployerRoleArn": "arn:aws:iam::111122223333:role/deployer",
                "breakGlassRoleArn": "arn:aws:iam::111122223333:role/break-glass",
            }
        ],
    )
    secrets_key_arn: Annotated[KeyArn | None, Explained("The stack creates a key, rotated every year.")] = Field(
        None,
        description="ARN of the KMS key that encrypts Secrets. Fixed when the cluster is created.",
        examples=["arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"],
    )
    permissions_boundary_arn: Annotated[BoundaryArn | None, Explained("Many organisations use none.")] = Field(
        None,
        description="ARN of the permissions boundary of all roles that the stack creates.",
        examples=["arn:aws:iam::111122223333:policy/boundary"],
    )
    prefix_delegation: PrefixDelegation = Field(default=False)
    pod_cidr: PodRange = Field(None)
    proxy: NodeProxy = Field(None)
    trusted_certificates: TrustedCertificates = Field(())
    node_mirrors: NodeMirrors = Field({})
    image_caches: ImageCaches = Field(())
    log_retention_days: Annotated[
        RetentionDays | None,
        Explained("30 days in dev; 365 in prod, enough for most investigations."),
    ] = Field(None, description="Retention of logs in days.", examples=[90])
    root_volume_gib: Annotated[int, Explained("Machine learning images are large, and a node holds several.")] = Field(
        100,
        ge=30,
        le=16384,
        strict=True,
        description="Size of each node's root disk in GiB: gp3, encrypted.",
        examples=[200],
    )
    tags: Annotated[dict[TagKey, TagValue], Explained("Owners and cost centres differ between organisations.")] = Field(
        {},
        description="Tags of all resources, with instances and disks; environment and managed-by are added if missing.",
        examples=[{"team": "ml-platform"}],
    )
    node_version: NodeVersion[Version] = Field(None)
    node_release: Annotated[
        NodeRelease | None, Explained("The latest release when a group is created or its version is raised.")
    ] = Field(None, description="Release of the node image.", examples=["1.35.2-20261105"])
    addon_versions: Annotated[
        dict[AddonName, AddonVersion], Explained("The AWS default when the add-on is installed.")
    ] = Field({}, description="Versions of EKS add-ons.", examples=[{"vpc-cni": "v1.22.4-eksbuild.1"}])
    node_monitoring: Annotated[bool, Explained("On a node with a faulty GPU, one job after the other fails.")] = Field(
        default=True,
        strict=True,
        description="Whether the node monitoring agent reports faults of GPUs, kernel and disks; EKS then replaces or "
        "reboots the node.",
        examples=[False],
    )
    gpu: GpuSoftware = Field(GpuChoices())
    office_hours: EksOfficeHours = None
    backup: EksBackupChoice = None
    ingress: EksIngressChoice = None
    image_registries: Annotated[dict[RegistryName, Mirror], Explained("Nodes reach both registries through NAT.")] = (
        Field(
            {},
            description="Mirror registries, by the registry that each replaces.",
            examples=[{"registry.k8s.io": "mirror.example.com"}],
        )
    )

    @field_validator("zones", mode="after")
    @classmethod
    def _several_zones(cls, zones: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(zones)) < len(zones):
            raise ValueError("lists a zone twice; remove one")
        if not 1 < len(zones) <= ZONES_MAX:
            raise ValueError(f"HE-08: must list 2 to {ZONES_MAX} zones, so that the cluster survives the loss of one")
        return zones

    @field_validator("network", mode="after")
    @classmethod
    def _a_subnet_for_every_zone(
        cls, network: CreatedNetwork | ExistingNetwork, info: ValidationInfo
    ) -> CreatedNetwork | ExistingNetwork:
        zones = set(info.data.get("zones", ()))
        findings = Findings()
        if isinstance(network, ExistingNetwork) and zones and set(network.node_subnet_ids) != zones:
            given, wanted = ", ".join(sorted(network.node_subnet_ids)), ", ".join(sorted(zones))
            findings.add(f"has zones {given or 'none'}, zones has {wanted}; make them equal", "nodeSubnetIds")
        findings.raise_if_any()
        return network

    @field_validator("service_cidr", mode="after")
    @classmethod
    def _beside_the_vpc(cls, cidr: str, info: ValidationInfo) -> str:
        network = info.data.get("network")
        if network and ipv4_network(network.cidr).overlaps(ipv4_network(cidr)):
            raise ValueError(f"overlaps network.cidr {network.cidr}; change one")
        return cidr

    @field_validator("pod_cidr", mode="after")
    @classmethod
    def _apart_and_by_prefixes(cls, cidr: str | None, info: ValidationInfo) -> str | None:
        network, has_prefixes = info.data.get("network"), info.data.get("prefix_delegation", True)
        if cidr and (problem := pod_range_problem(cidr, network, has_prefixes=has_prefixes)):
            raise ValueError(problem)
        return cidr

    @field_validator("access", mode="after")
    @classmethod
    def _deployer_of_the_account(cls, access: Access, info: ValidationInfo) -> Access:
        findings, arn = Findings(), access.deployer_role_arn
        if problem := other_account(arn, info):
            findings.add(problem, "deployerRoleArn", given=arn)
        findings.raise_if_any()
        return access

    @field_validator("permissions_boundary_arn", mode="after")
    @classmethod
    def _boundary_of_the_account(cls, arn: str | None, info: ValidationInfo) -> str | None:
        if arn and account_of(arn) != "aws" and (problem := other_account(arn, info)):
            raise ValueError(problem)
        return arn

    @field_validator("ingress", mode="after")
    @classmethod
    def _certificate_of_the_cluster(cls, ingress: EksIngress | None, info: ValidationInfo) -> EksIngress | None:
        findings, region = Findings(), info.data.get("region")
        if ingress and (arn := ingress.certificate_arn):
            if problem := other_account(arn, info):
                findings.add(problem, "certificateArn", given=arn)
            if region and region_of(arn) != region:
                where = f"is a certificate in {region_of(arn)}, but the cluster is in {region}"
                findings.add(f"{where}; use one of that region", "certificateArn", given=arn)
        findings.raise_if_any()
        return ingress

    @field_validator("secrets_key_arn", mode="after")
    @classmethod
    def _in_the_region(cls, arn: str | None, info: ValidationInfo) -> str | None:
        region = info.data.get("region")
        if arn and region and key_region(arn) != region:
            raise ValueError(f"is a key in {key_region(arn)}, but the cluster is in {region}; use a key of that region")
        return arn

    @field_validator("tags", mode="after")
    @classmethod
    def _leave_room(cls, tags: dict[str, str]) -> dict[str, str]:
        if len(tags) > USER_TAGS_MAX:
            raise ValueError(
                f"has {len(tags)} tags, at most {USER_TAGS_MAX} are allowed (AWS: 50, EKS and this package need 11)"
            )
        refuse_other_case([OwnTag.ENVIRONMENT, OwnTag.MANAGED_BY], tags, "IAM")
        return tags

    @field_validator("node_release", mode="after")
    @classmethod
    def _of_the_version(cls, release: str | None, info: ValidationInfo) -> str | None:
        version = info.data.get("node_version", "") or info.data.get("version")
        if release and version and "node_version" in info.data and not release.startswith(f"{version}."):
            raise ValueError(f"HE-05: is not a release of version {version}")
        date = release.rpartition("-")[2] if release else ""
        if date and info.data.get("proxy") and date < PROXY_RELEASE_MIN:
            raise ValueError(f"cannot use cluster.proxy; choose a release of {PROXY_RELEASE_MIN} or later")
        return release

    @field_validator("addon_versions", mode="after")
    @classmethod
    def _new_enough(cls, versions: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        findings, given = Findings(), versions.get(CNI)
        wanted = f"choose v{'.'.join(map(str, CNI_MIN))} or later"
        if given and number(given) < CNI_MIN:
            findings.add(f"may apply network policies of one namespace to pods of another; {wanted}", CNI, given=given)
        elif not given and info.data.get("pod_cidr"):
            # AWS's default was older than this at times.
            findings.add(f"is required with cluster.podCidr, because AWS's default may be too old; {wanted}", CNI)
        findings.raise_if_any()
        return versions

    @property
    def version_of_nodes(self) -> str:
        """Minor version of the nodes."""
        return self.node_version or self.version

    @property
    def is_private(self) -> bool:
        """Whether the API is reachable only inside the network."""
        return not self.public_access_cidrs

    @property
    def user_data(self) -> str:
        """User data of nodes; empty if they need none."""
        ranges = (self.network.cidr, self.service_cidr, *filter(None, [self.pod_cidr]))
        environment = proxy_environment(self.proxy, self.region, ranges) if self.proxy else {}
        return user_data(environment, self.trusted_certificates, self.node_mirrors)
