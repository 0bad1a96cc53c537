"""Model of a stack file's settings, under ``igz-clusters:stack``."""

from collections.abc import Iterable
from functools import cached_property, partial
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, field_validator

from components.contract.choices import ContractModel, Explained, Findings
from components.contract.clusters import ClusterChoices, cluster_groups, descriptor_of, egress_mismatches, spot_taint
from components.contract.constraint_violation import Mismatch
from components.contract.environments import ClusterKind, Environment, PlatformProfile, ServerOwner
from components.contract.groups import NodeGroup, zones_unknown_at_zero
from components.contract.identity import CloudIdentity, key_problem
from components.contract.ingress import WaysIn, long_names
from components.contract.namespaces import (
    DEFAULT_NAMESPACES,
    TENANT_NAMESPACE,
    NamespaceName,
    UserNamespace,
    core_of,
    identities_of,
    second_volumes,
    unknown_storage,
    unshared_gpus,
    volumes_of,
)
from components.contract.people import People, authors_of_pods, mismatches
from components.contract.platform_choices import PlatformChoices
from components.contract.pod_resources import DEFAULT_POD_RESOURCES, MAX_LIMIT_REQUEST_RATIO, PodResources, beyond_any
from components.contract.policy_choices import AdmissionMode, PolicyChoices
from components.contract.policy_guard import PolicyGuard, default_guard
from components.contract.pool_names import PoolName
from components.contract.pools import NodePool
from components.contract.shared_storage import Storage, StorageName
from components.contract.taints import Taint
from infra.config.entries import ENTRIES_MAX, Few
from infra.config.initial_pool import one_initial_pool

ENGINE_KEYS: Final = ("config", "encryptedkey", "encryptionsalt", "environment", "secretsprovider")
"""Keys of the stack file itself: https://www.pulumi.com/docs/iac/concepts/projects/stack-settings-file/."""

SCHEMA_VERSION: Final = 1


def _pod_resources_of(choices: dict[str, Any]) -> PodResources:
    return DEFAULT_POD_RESOURCES[choices["environment"]]


def _guard_of(choices: dict[str, Any]) -> PolicyGuard:
    return default_guard(choices["environment"], ClusterKind(choices["cluster"].kind))


_UNREAD: Final = (
    f"the full platform runs MLRun in {TENANT_NAMESPACE}, where this stack creates no settings for MLRun; add "
    f"`{TENANT_NAMESPACE}: {{coreServices: true}}`"
)


class StackConfig(ContractModel):
    """All settings of a stack file under ``igz-clusters:stack``."""

    schema_version: Literal[1] = Field(description="Version of this format.", examples=[SCHEMA_VERSION])
    environment: Annotated[
        Environment,
        Explained(decides="How strict the policies are; default requests and limits; the initial pool's minimum size."),
    ] = Field(description="Environment of the cluster.", examples=["dev"])
    profile: Annotated[
        PlatformProfile,
        Explained(
            "The open-source platform runs on every kind of cluster.",
            "The taint of spot nodes; priority classes of core services.",
        ),
    ] = Field(PlatformProfile.MLRUN_CE, description="Platform that will run on the cluster.", examples=["mlrun-ce"])
    cluster: ClusterChoices = Field(
        discriminator="kind",
        description="The cluster: its kind, and the options of that kind.",
        examples=[{"kind": "local"}],
    )
    servers: Annotated[ServerOwner | None, Explained("Only the installer of profile iguazio can create servers.")] = (
        Field(
            None,
            description="Who creates the servers: the platform's installer or this stack. For profile iguazio only.",
            examples=["pulumi"],
        )
    )
    pools: Annotated[
        dict[PoolName, NodePool],
        Few,
        Explained(decides="Node groups with their labels and taints; autoscaler hints; MLRun's preemption settings."),
    ] = Field(
        min_length=1,
        json_schema_extra={"maxProperties": ENTRIES_MAX},
        description="Node pools by name; exactly one has the role initial.",
        examples=[{"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}],
    )
    storage: Annotated[
        dict[StorageName, Storage],
        Few,
        Explained(
            "Storage costs money, and only its owner knows its purpose.",
            "File systems of the cloud or a class of an existing cluster, and what `namespaces.*.volumes` can name.",
        ),
    ] = Field(
        {},
        json_schema_extra={"maxProperties": ENTRIES_MAX},
        description="Storage that many pods mount at once, by name (docs/shared-storage.md).",
        examples=[{"corpus": {"purpose": "dataset", "type": "files"}}],
    )
    namespaces: Annotated[
        dict[NamespaceName, UserNamespace],
        Few,
        Explained(
            "The default namespace of the MLRun CE chart.",
            "Namespaces with default requests and limits, network policies, Pod Security and the admission guard.",
        ),
    ] = Field(
        {name: UserNamespace.model_validate({"coreServices": True}) for name in DEFAULT_NAMESPACES},
        json_schema_extra={"maxProperties": ENTRIES_MAX},
        description="User namespaces by name.",
        examples=[{"mlrun": {"coreServices": True}, "jobs": {}}],
    )
    people: Annotated[
        People,
        Explained(
            "Access must be granted explicitly.", "Cluster roles, their bindings, an admission policy for nodes."
        ),
    ] = Field(
        default_factory=People,
        description="Roles of people and pipelines in the cluster (docs/people.md).",
        examples=[{"itAdmins": {"groups": ["it-admins"]}}],
    )
    pod_resources: Annotated[
        PodResources,
        Explained(
            "Depends on the environment: in prod requests equal limits, in dev idle CPU is shared.",
            "LimitRanges of user namespaces and MLRun's default resources of functions.",
        ),
    ] = Field(
        alias="defaultPodResources",
        default_factory=_pod_resources_of,
        description="Default requests and limits of containers.",
        examples=[DEFAULT_POD_RESOURCES[Environment.DEV].model_dump()],
    )
    platform: Annotated[
        PlatformChoices,
        Explained("The settings that the platform's own documents recommend."),
    ] = Field(
        default_factory=PlatformChoices,
        description="Settings of the platform that will run on the cluster.",
        examples=[{"mlrun": {"preemptionMode": "allow"}}],
    )
    policies: Annotated[
        PolicyChoices,
        Explained("The requirements of the rules for every cluster.", "Limits of rules, actions at admission."),
    ] = Field(
        default_factory=PolicyChoices,
        description="Options of the policies.",
        examples=[{"admission": "warn"}],
    )
    policy_guard: Annotated[
        PolicyGuard,
        Explained(
            "required in prod, warn in dev, off on a local cluster, according to the cost of a mistake.",
            "Updates without policy packs; replacements and deletions of guarded resources without an approval.",
        ),
    ] = Field(
        default_factory=_guard_of,
        description="Whether updates without policy packs, or with unapproved destruction, are refused.",
        examples=["warn"],
    )

    @cached_property
    def groups(self) -> tuple[NodeGroup, ...]:
        """Exactly the node groups that the cluster has, in the order of the pools."""
        return cluster_groups(self.cluster, self.pools, self.profile)

    @property
    def identities(self) -> dict[str, CloudIdentity]:
        """Cloud identities of user namespaces, by namespace."""
        return identities_of(self.namespaces)

    @property
    def ways_in(self) -> WaysIn | None:
        """How clients outside reach services; None if the stack file does not define it."""
        return descriptor_of(self.cluster).ways_in(self.cluster)

    @property
    def spot_taint(self) -> Taint | None:
        """Taint of every spot node; None if this kind of cluster and profile have none."""
        return spot_taint(ClusterKind(self.cluster.kind), self.profile)

    @property
    def creation_problems(self) -> tuple[Mismatch, ...]:
        """Problems that would make the first `up` of a new cluster fail; they do not apply to a cluster that exists."""
        found = descriptor_of(self.cluster).creation_problems(self.cluster)
        return tuple(Mismatch(("cluster", *each.path), each.message) for each in found)

    @property
    def notes(self) -> tuple[Mismatch, ...]:
        """Notes about allowed settings with unexpected effects."""
        descriptor = descriptor_of(self.cluster)
        found = zones_unknown_at_zero(self.groups, descriptor.zones(self.cluster))
        tenant = self.namespaces.get(TENANT_NAMESPACE)
        note = partial(descriptor.group_note, self.cluster)
        groups = {path: message for path, group in self.people.groups.items() if (message := note(group))}
        limited = [name for name, each in self.namespaces.items() if descriptor.egress_note and each.names_destinations]
        unread = self.profile is PlatformProfile.IGUAZIO and not (tenant and tenant.core_services)
        return (
            *(Mismatch(("pools", pool), message) for pool, message in found.items()),
            *(Mismatch(("people", *path), message) for path, message in groups.items()),
            *([Mismatch(("namespaces",), _UNREAD)] if unread else []),
            *(Mismatch(("namespaces", name, "egress"), descriptor.egress_note) for name in limited),
        )

    @field_validator("schema_version", mode="before")
    @classmethod
    def _is_a_version_that_this_release_reads(cls, version: Any) -> Any:
        if type(version) is not int:  # `true` and `1.0` equal 1, but have another meaning
            raise ValueError("must be a whole number")
        if version > SCHEMA_VERSION:
            raise ValueError(f"is newer than version {SCHEMA_VERSION}, which this release reads; update igz-clusters")
        if version < SCHEMA_VERSION:
            raise ValueError(f"is not a known version; use {SCHEMA_VERSION}")
        return version

    @field_validator("cluster", mode="after")
    @classmethod
    def _fits_its_environment(cls, cluster: ClusterChoices, info: ValidationInfo) -> ClusterChoices:
        if environment := info.data.get("environment"):
            _refuse(descriptor_of(cluster).environment_problems(cluster, environment))
        if info.data.get("profile") is PlatformProfile.IGUAZIO and descriptor_of(cluster).ways_in(cluster):
            _refuse([Mismatch(("ingress",), "Iguazio's installer makes the ways in to a full platform; remove it")])
        return cluster

    @field_validator("servers", mode="after")
    @classmethod
    def _servers_follow_the_profile(cls, servers: ServerOwner | None, info: ValidationInfo) -> ServerOwner | None:
        profile = info.data.get("profile")
        if profile is PlatformProfile.MLRUN_CE and servers:
            raise ValueError("is allowed with profile 'iguazio' only; remove it")
        if profile is PlatformProfile.IGUAZIO and not servers:
            raise ValueError(
                "is required with profile 'iguazio': provazio (installer creates servers) or pulumi (this stack does)"
            )
        cluster = info.data.get("cluster")
        if servers and cluster and (problem := descriptor_of(cluster).owner_problem(servers)):
            raise ValueError(problem)
        return servers

    @field_validator("pools", mode="wrap")
    @classmethod
    def _one_initial_pool(cls, pools: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        return one_initial_pool(pools, handler, info.data.get("environment"))

    @field_validator("pools", mode="after")
    @classmethod
    def _fit_their_cluster(cls, pools: dict[str, NodePool], info: ValidationInfo) -> dict[str, NodePool]:
        cluster, profile = info.data.get("cluster"), info.data.get("profile")
        if cluster and profile:
            groups = cluster_groups(cluster, pools, profile)
            _refuse(descriptor_of(cluster).mismatches(cluster, pools, groups, info.data.get("environment")))
        return pools

    @field_validator("platform", mode="after")
    @classmethod
    def _leaves_identities_to_functions(cls, platform: PlatformChoices, info: ValidationInfo) -> PlatformChoices:
        findings = Findings()
        for name, choices in (info.data.get("namespaces") or {}).items():
            if not (choices.core_services and choices.identity) or (choices.mlrun and choices.mlrun.auto_mount):
                continue
            if problem := key_problem(platform.mlrun, choices.identity):
                findings.add(f"{problem}, or set mlrun.autoMount of namespace {name}", "mlrun", "auto_mount")
                break
        findings.raise_if_any()
        return platform

    @field_validator("storage", mode="after")
    @classmethod
    def _storage_fits_the_cluster(cls, storage: dict[str, Storage], info: ValidationInfo) -> dict[str, Storage]:
        if cluster := info.data.get("cluster"):
            _refuse(descriptor_of(cluster).storage_problems(cluster, storage))
        return storage

    @field_validator("namespaces", mode="after")
    @classmethod
    def _name_what_exists(cls, namespaces: dict[str, UserNamespace], info: ValidationInfo) -> dict[str, UserNamespace]:
        storage, cluster = info.data.get("storage"), info.data.get("cluster")
        found = [] if storage is None else [*unknown_storage(namespaces, storage), *second_volumes(namespaces, storage)]
        if cluster:
            descriptor = descriptor_of(cluster)
            found += descriptor.identity_problems(cluster, identities_of(namespaces))
            found += descriptor.volume_problems(cluster, volumes_of(namespaces))
            found += long_names(descriptor.ways_in(cluster), core_of(namespaces))
            if profile := info.data.get("profile"):
                found += egress_mismatches(cluster, namespaces, profile)
        if pools := info.data.get("pools"):
            found += unshared_gpus(namespaces, pools.values())
        _refuse(found)
        return namespaces

    @field_validator("people", mode="after")
    @classmethod
    def _fit_the_cluster(cls, people: People, info: ValidationInfo) -> People:
        cluster, namespaces = info.data.get("cluster"), info.data.get("namespaces")
        if cluster and namespaces is not None:
            has_core_services = {name: choices.core_services for name, choices in namespaces.items()}
            _refuse(mismatches(people, has_core_services, partial(descriptor_of(cluster).group_problem, cluster)))
        return people

    @field_validator("policies", mode="after")
    @classmethod
    def _holds_people(cls, policies: PolicyChoices, info: ValidationInfo) -> PolicyChoices:
        people, namespaces, findings = info.data.get("people"), info.data.get("namespaces"), Findings()
        if policies.admission is AdmissionMode.WARN and people and namespaces is not None:
            has_core_services = {name: choices.core_services for name, choices in namespaces.items()}
            if authors := authors_of_pods(people, has_core_services):
                findings.add(
                    "lets privileged pods pass: users who may create pods can take over nodes; set deny, or remove "
                    + ", ".join(authors),
                    "admission",
                )
        findings.raise_if_any()
        return policies

    @field_validator("pod_resources", mode="after")
    @classmethod
    def _resources_follow_the_environment(cls, resources: PodResources, info: ValidationInfo) -> PodResources:
        findings = Findings()
        environment = info.data.get("environment")
        bound = MAX_LIMIT_REQUEST_RATIO[environment] if environment else None
        if bound and resources.ratio > bound:
            rule = f"RS-05: in {environment} limits must be at most {bound} times the requests"
            findings.add(f"{rule}, not {float(resources.ratio):.3g} times; lower them", "limits")
        if environment is Environment.PROD and not resources.is_guaranteed:
            findings.add("RS-03: in prod requests must equal limits, for guaranteed quality of service", "requests")
        if pools := info.data.get("pools"):
            users = [pool for pool in pools.values() if pool.holds_user_work] or pools.values()
            for name, problem in beyond_any(resources.requests, [each for pool in users for each in pool.instances]):
                findings.add(problem, "requests", name, given=getattr(resources.requests, name))
        findings.raise_if_any()
        return resources


def _refuse(found: Iterable[Mismatch]) -> None:
    """Raise all problems that were found at once, if there are any."""
    findings = Findings()
    for mismatch in found:
        findings.add(mismatch.message, *mismatch.path)
    findings.raise_if_any()
