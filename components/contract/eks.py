"""What a stack file may choose about an EKS cluster, and the limits that AWS sets to it.

Everything else (roles, add-ons, tags, encryption, logs) follows from the environment and the pools.
"""

import difflib
import re
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from components.contract.aws import (
    AccountId,
    BoundaryArn,
    KeyArn,
    Region,
    TagKey,
    TagValue,
    ipv4_network,
    key_region,
    quoted,
)
from components.contract.eks_access import Access
from components.contract.eks_network import (
    PUBLIC_CIDRS_MAX,
    ZONES_MAX,
    CreatedNetwork,
    ExistingNetwork,
    PublicCidr,
    ServiceCidr,
    Zone,
)
from components.contract.pools import ContractModel

VERSIONS: Final = ("1.34", "1.35", "1.36")
"""Minor versions in standard support: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html.

As read in November 2026: 1.34 until 2 December 2026, 1.35 until 27 March 2027. The page that was read does not give
1.36's dates yet.
"""

ADDONS: Final = (
    *("vpc-cni", "kube-proxy", "eks-pod-identity-agent"),
    *("coredns", "aws-ebs-csi-driver", "metrics-server"),
)
"""Add-ons of EKS that every cluster gets: the first three before the nodes, the others after the initial group."""

IMAGE_REGISTRIES: Final = ("registry.k8s.io", "nvcr.io")
"""Where the images of our own manifests come from; a mirror may stand in for each."""

LOG_RETENTION_DAYS: Final = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
"""What CloudWatch accepts: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html."""

USER_TAGS_MAX: Final = 40
"""Tags that a stack file may add. AWS allows 50 a resource; EKS and this package need the rest."""


def _version(text: str) -> str:
    if text not in VERSIONS:
        raise ValueError(
            f"HE-05: EKS supports {', '.join(VERSIONS)} without extra cost; take one of these minor versions"
        )
    return text


class EksChoices(ContractModel):
    """A managed cluster on AWS."""

    kind: Literal["eks"]
    name: str = Field(description="Name of the cluster, unique in account and region. A change makes a new cluster.")
    account_id: AccountId = Field(description="The one account in which this stack may work, in quotes.")
    region: Region = Field(description="Region, such as eu-west-1.")
    zones: tuple[Zone, ...] = Field(description="Letters of two or three zones.")
    version: Annotated[str, BeforeValidator(quoted), AfterValidator(_version)] = Field(
        description="Minor version of Kubernetes, in quotes. Raise it by one at a time."
    )
    network: CreatedNetwork | ExistingNetwork = Field(discriminator="kind", description="Created or existing VPC.")
    service_cidr: ServiceCidr = Field(
        "172.20.0.0/16", description="Addresses of Services. A change makes a new cluster."
    )
    public_access_cidrs: tuple[PublicCidr, ...] = Field(
        (), description="Who may reach the API from the internet; empty: nobody. The private endpoint is always on."
    )
    access: Access = Field(description="Who may do what; the cluster's creator gets nothing by itself.")
    secrets_key_arn: KeyArn | None = Field(
        None, description="KMS key for Secrets; default: a key of its own, rotated yearly."
    )
    permissions_boundary_arn: BoundaryArn | None = Field(None, description="Boundary of every role that is made.")
    log_retention_days: int | None = Field(None, description="Default: 30 in dev, 365 in prod.")
    root_volume_gib: int = Field(100, ge=30, le=16384, description="Root disk of every node: gp3, encrypted.")
    tags: dict[TagKey, TagValue] = Field(default_factory=dict, description="On everything, instances and disks too.")
    node_release: str | None = Field(
        None, description="Release of the nodes' image; default: the newest when a group is made or its version rises."
    )
    addon_versions: dict[str, str] = Field(
        default_factory=dict, description="Versions of EKS add-ons; default: what AWS gives when it is installed."
    )
    image_registries: dict[str, str] = Field(default_factory=dict, description="Mirrors by the registry they replace.")

    @field_validator("name", mode="after")
    @classmethod
    def _name(cls, name: str) -> str:
        if not re.fullmatch(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?", name):
            raise ValueError("1 to 63 lower-case letters, digits or '-', a letter first, no '-' at the end")
        return name

    @field_validator("zones", mode="after")
    @classmethod
    def _zones(cls, zones: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(zones)) < len(zones):
            raise ValueError("names a zone twice")
        if not 1 < len(zones) <= ZONES_MAX:
            raise ValueError(f"HE-08: a cluster has 2 to {ZONES_MAX} zones, so that it survives the loss of one")
        return zones

    @field_validator("public_access_cidrs", mode="after")
    @classmethod
    def _public_cidrs(cls, cidrs: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(cidrs)) < len(cidrs):
            raise ValueError("names a range twice")
        if len(cidrs) > PUBLIC_CIDRS_MAX:
            raise ValueError(f"{len(cidrs)} ranges, EKS takes at most {PUBLIC_CIDRS_MAX}; merge neighbours")
        return cidrs

    @field_validator("log_retention_days", mode="after")
    @classmethod
    def _retention(cls, days: int | None) -> int | None:
        if days is not None and days not in LOG_RETENTION_DAYS:
            raise ValueError(f"CloudWatch keeps logs for {', '.join(map(str, LOG_RETENTION_DAYS))} days")
        return days

    @field_validator("tags", mode="after")
    @classmethod
    def _tags(cls, tags: dict[str, str]) -> dict[str, str]:
        if len(tags) > USER_TAGS_MAX:
            raise ValueError(f"{len(tags)} tags, at most {USER_TAGS_MAX}: AWS allows 50, EKS and this package need 10")
        return tags

    @field_validator("node_release", mode="after")
    @classmethod
    def _node_release(cls, release: str | None) -> str | None:
        if release and not re.fullmatch(r"1\.\d+\.\d+-\d{8}", release):
            raise ValueError("a release is a Kubernetes version and a date, such as 1.35.2-20261105")
        return release

    @field_validator("addon_versions", mode="after")
    @classmethod
    def _addon_versions(cls, versions: dict[str, str]) -> dict[str, str]:
        _known(versions, ADDONS, "add-on")
        for name, version in versions.items():
            if not re.fullmatch(r"v\d+\.\d+\.\d+-eksbuild\.\d+", version):
                raise ValueError(f"{name}: '{version}' is no version such as v1.20.4-eksbuild.2")
        return versions

    @field_validator("image_registries", mode="after")
    @classmethod
    def _image_registries(cls, mirrors: dict[str, str]) -> dict[str, str]:
        _known(mirrors, IMAGE_REGISTRIES, "registry")
        for registry, mirror in mirrors.items():
            if not re.fullmatch(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._/-]*[a-z0-9])?", mirror):
                raise ValueError(f"{registry}: '{mirror}' is no registry; give HOST or HOST/PATH, without https://")
        return mirrors

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        problems = []
        if ipv4_network(self.network.cidr).overlaps(ipv4_network(self.service_cidr)):
            problems.append(f"network.cidr {self.network.cidr} overlaps serviceCidr {self.service_cidr}; move one")
        if isinstance(self.network, ExistingNetwork) and set(self.network.node_subnet_ids) != set(self.zones):
            given, wanted = ", ".join(sorted(self.network.node_subnet_ids)), ", ".join(sorted(self.zones))
            problems.append(f"network.nodeSubnetIds has zones {given or 'none'}, zones has {wanted}; make them equal")
        if self.secrets_key_arn and key_region(self.secrets_key_arn) != self.region:
            problems.append(f"secretsKeyArn is a key of {key_region(self.secrets_key_arn)}, region is {self.region}")
        if self.node_release and not self.node_release.startswith(f"{self.version}."):
            problems.append(f"HE-05: nodeRelease {self.node_release} is no release of version {self.version}")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @property
    def is_private(self) -> bool:
        """Whether the API answers inside the network only."""
        return not self.public_access_cidrs


def _known(given: dict[str, str], known: tuple[str, ...], noun: str) -> None:
    for name in given:
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
            hint = f"; did you mean '{nearest[0]}'?" if nearest else f"; known: {', '.join(known)}"
            raise ValueError(f"no {noun} '{name}'{hint}")
