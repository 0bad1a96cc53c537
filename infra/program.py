"""The stack: all of its components, from top to bottom."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pulumi

from components.addons.images import pause_image
from components.addons.prepull import ImagePrepull, ImagePrepullArgs
from components.addons.storage import SharedStorageClasses, SharedStorageClassesArgs
from components.clusters.handle import ClusterHandle
from components.contract.aks.config import AksConfig
from components.contract.clusters import cluster_egress
from components.contract.default_resources import limit_range_gives_limits
from components.contract.eks.config import EksConfig
from components.contract.environments import Environment, PlatformProfile
from components.contract.existing.cluster_inventory import ClusterInventory, SharedKind, SharedObject
from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup, gpu_names, role_for_jobs
from components.contract.identity import CloudIdentity
from components.contract.live_sizes import with_live_sizes
from components.contract.local.config import LocalConfig
from components.contract.namespaces import volumes_of
from components.contract.people import People
from components.contract.placement import Placement, PlacementEngine, has_untainted_spot, offers_mutation
from components.contract.policy_choices import AdmissionMode
from components.contract.priorities import SystemPriority
from components.platform.mlrun import MlrunSettings, MlrunSettingsArgs
from components.scheduling.admission import AdmissionGuard, AdmissionGuardArgs
from components.scheduling.admission_rules import AdmissionRules, AdmissionRulesArgs
from components.scheduling.default_resources import DefaultResources, DefaultResourcesArgs
from components.scheduling.gangs import Gangs, GangsArgs
from components.scheduling.headroom import HeadroomPods, HeadroomPodsArgs
from components.scheduling.identity_label import IdentityLabel, IdentityLabelArgs
from components.scheduling.job_accounts import JobAccounts, JobAccountsArgs
from components.scheduling.namespaces import UserNamespaceArgs, UserNamespaceObjects
from components.scheduling.people import PeopleAccess, PeopleAccessArgs
from components.scheduling.placement import PodPlacement, PodPlacementArgs
from components.scheduling.pod_corrections import PodCorrections, PodCorrectionsArgs
from components.scheduling.pod_security import PodSecurity, PodSecurityArgs
from components.scheduling.priority_classes import PriorityClasses, PriorityClassesArgs
from components.scheduling.volumes import NamespaceVolumes, NamespaceVolumesArgs
from infra.config import StackConfig
from infra.config.effective import SETTINGS_DIGEST, settings_digest
from infra.outputs import outputs
from infra.run_facts import RunFacts


def run(
    config: StackConfig,
    *,
    kubeconfig: str | None = None,
    sighting: ClusterInventory | None = None,
    live_sizes: Mapping[str, int] | None = None,
) -> None:
    """Declare all resources of ``config``, and export its outputs.

    Parameters
    ----------
    config
        The stack's choices.
    kubeconfig
        Path of the local cluster's kubeconfig. The other kinds create or name their own.
    sighting
        Inventory of an existing cluster; None for the other kinds.
    live_sizes
        Nodes of the existing groups by name, for groups that replace them. Default: unknown.
    """
    for name, value in declare(config, RunFacts(kubeconfig, sighting, live_sizes or {})).items():
        pulumi.export(name, value)
    pulumi.export(SETTINGS_DIGEST, settings_digest(config))


def declare(config: StackConfig, facts: RunFacts, owner: pulumi.Resource | None = None) -> dict[str, pulumi.Input[Any]]:
    """Declare all resources of ``config`` and return its outputs by name.

    Parameters
    ----------
    config
        The stack's choices.
    facts
        Facts about the run that they depend on.
    owner
        Parent of the resources that have no other. Default: the stack.
    """
    groups, sighting = with_live_sizes(config.groups, facts.live_sizes), facts.sighting
    cluster = replace(_cluster(config, groups, facts.kubeconfig, sighting, owner), owner=owner)
    inside = cluster.inside(cluster.ready)

    classes = PriorityClasses(
        "priorities", PriorityClassesArgs(profile=config.profile, adopted=cluster.adopted), inside
    )
    _warmth(config, cluster)
    placement = _placement(config, cluster.groups, sighting)
    defaults = _admission(config, cluster, placement, classes)
    baseline = PodSecurity("pod-security", PodSecurityArgs(admission=config.policies.admission), inside)
    gives_limits = limit_range_gives_limits(config.environment, config.policies.admission, mutates=placement.mutates)
    shared = _shared_storage(config, cluster)
    namespaces: list[pulumi.Resource] = []
    for name, choices in config.namespaces.items():
        namespace = UserNamespaceObjects(
            name,
            UserNamespaceArgs(
                choices=choices,
                groups=cluster.groups,
                pod_resources=config.pod_resources,
                admission=config.policies.admission,
                egress=cluster_egress(config.cluster, config.profile, sighting.egress if sighting else ()),
                ways_in=config.ways_in,
                gives_limits=gives_limits,
                is_adopted=SharedObject(SharedKind.NAMESPACE, name) in cluster.adopted,
            ),
            cluster.inside([*cluster.ready, baseline, defaults]),  # these replace Pod Security and LimitRanges
        )
        namespaces.append(namespace)
        if choices.identity:
            _accounts(cluster, name, choices.identity, namespace)
        _volumes(config, cluster, name, [*shared, namespace])
        if choices.core_services:
            mlrun = _mlrun(config, cluster.groups, name, corrects=placement.mutates)
            # MLRun's settings name classes only once they exist: pods that name a missing class are refused.
            MlrunSettings(f"{name}-mlrun", mlrun, cluster.inside([classes, namespace]))
    _people(config, cluster, placement, namespaces)
    return outputs(config, cluster, classes, corrects=placement.mutates)


def _people(
    config: StackConfig, cluster: ClusterHandle, placement: Placement, namespaces: Sequence[pulumi.Resource]
) -> None:
    if config.people != People():
        people = PeopleAccessArgs(people=config.people, core_namespaces=placement.core_namespaces)
        PeopleAccess("people", people, cluster.inside([*cluster.ready, *namespaces]))


def _warmth(config: StackConfig, cluster: ClusterHandle) -> None:
    """Declare objects that keep nodes and images ready for future work."""
    inside = cluster.inside(cluster.ready)
    image = pause_image(getattr(config.cluster, "image_registries", {}))
    if any(group.headroom for group in cluster.groups):
        HeadroomPods("headroom", HeadroomPodsArgs(groups=cluster.groups, image=image), inside)
    if any(group.prepull_images for group in cluster.groups):
        ImagePrepull("prepull", ImagePrepullArgs(groups=cluster.groups, image=image), inside)


def _accounts(cluster: ClusterHandle, name: str, identity: CloudIdentity, namespace: pulumi.Resource) -> None:
    accounts = JobAccountsArgs(namespace=name, choices=identity, identity=cluster.identity_of(name))
    JobAccounts(f"{name}-accounts", accounts, cluster.inside([namespace]))


def _shared_storage(config: StackConfig, cluster: ClusterHandle) -> tuple[pulumi.Resource, ...]:
    if not any(share.provisioner for share in cluster.shares.values()):
        return ()
    classes = SharedStorageClassesArgs(config.storage, cluster.shares)
    return (SharedStorageClasses("storage", classes, cluster.inside(cluster.ready)),)


def _volumes(config: StackConfig, cluster: ClusterHandle, namespace: str, needed: Sequence[pulumi.Resource]) -> None:
    if choices := config.namespaces[namespace].volumes:
        volumes = NamespaceVolumesArgs(
            namespace=namespace,
            choices=choices,
            storage=config.storage,
            shares=cluster.shares,
            is_production=config.environment is Environment.PROD,
        )
        NamespaceVolumes(f"{namespace}-volumes", volumes, cluster.inside(needed))


def _mlrun(config: StackConfig, groups: tuple[NodeGroup, ...], namespace: str, *, corrects: bool) -> MlrunSettingsArgs:
    return MlrunSettingsArgs(
        namespace=namespace,  # plain data, so that policies can check it in a first preview
        groups=groups,
        spot_taint=config.spot_taint,
        pod_resources=config.pod_resources,
        choices=config.platform.mlrun.with_own(config.namespaces[namespace].mlrun),
        corrects=corrects,
        service_account=next(iter(config.namespaces[namespace].job_accounts), ""),
    )


def _admission(
    config: StackConfig, cluster: ClusterHandle, placement: Placement, classes: PriorityClasses
) -> DefaultResources:
    inside = cluster.inside(cluster.ready)
    AdmissionGuard("admission", AdmissionGuardArgs(groups=cluster.groups, placement=placement), inside)
    AdmissionRules(
        "rules",
        AdmissionRulesArgs(
            environment=config.environment, groups=cluster.groups, choices=config.policies, placement=placement
        ),
        inside,
    )
    # In a cluster of another owner, the GPU plug-in may offer parts of GPUs under the name of whole ones.
    gangs = AdmissionMode.WARN if isinstance(config.cluster, ExistingConfig) else config.policies.admission
    Gangs("gangs", GangsArgs(groups=cluster.groups, admission=gangs), inside)
    # Pods that name a missing class are refused, so the class must exist first.
    PodPlacement("placement", PodPlacementArgs(placement=placement), cluster.inside([classes]))
    PodCorrections("corrections", PodCorrectionsArgs(groups=cluster.groups, placement=placement), inside)
    if placement.mutates and (label := next((each.pod_label for each in cluster.identities.values()), None)):
        accounts = {name: identity.service_accounts for name, identity in config.identities.items()}
        IdentityLabel("identity-label", IdentityLabelArgs(label=label, accounts=accounts), inside)
    defaults = DefaultResourcesArgs(pod_resources=config.pod_resources, placement=placement)
    return DefaultResources("defaults", defaults, inside)


def _placement(config: StackConfig, groups: tuple[NodeGroup, ...], sighting: ClusterInventory | None) -> Placement:
    mutates = offers_mutation(config.cluster.model_dump(by_alias=True))
    if mutates is None:
        mutates = sighting is not None and sighting.mutates
    return Placement(
        engine=PlacementEngine.MUTATION if mutates else PlacementEngine.AUTHORS,
        core_namespaces=tuple(name for name, choices in config.namespaces.items() if choices.core_services),
        # The full platform's installer creates the classes of core services.
        core_class=SystemPriority.MEDIUM.value if config.profile is PlatformProfile.MLRUN_CE else "",
        has_untainted_spot=has_untainted_spot(groups),
        job_role=role_for_jobs(groups),
        gpu_resources=gpu_names(groups),
    )


def _cluster(
    config: StackConfig,
    groups: tuple[NodeGroup, ...],
    kubeconfig: str | None,
    sighting: ClusterInventory | None,
    owner: pulumi.Resource | None = None,
) -> ClusterHandle:
    name, below = pulumi.get_stack(), pulumi.ResourceOptions(parent=owner)
    # Imported here so that a stack loads the SDK of its own cloud only.
    match config.cluster:
        case LocalConfig():
            from components.clusters.local import LocalCluster, LocalClusterArgs  # noqa: PLC0415

            if kubeconfig is None:
                raise ValueError("a local cluster needs the kubeconfig of its control plane")
            local = LocalClusterArgs(
                kubeconfig=kubeconfig, groups=groups, storage=config.storage, volumes=volumes_of(config.namespaces)
            )
            return LocalCluster(name, local, below).handle
        case EksConfig():
            from components.clusters.eks import EksCluster, EksClusterArgs  # noqa: PLC0415

            eks = EksClusterArgs(
                choices=config.cluster,
                environment=config.environment,
                groups=groups,
                identities=config.identities,
                storage=config.storage,
                volumes=volumes_of(config.namespaces),
            )
            return EksCluster(name, eks, below).handle
        case AksConfig():
            from components.clusters.aks import AksCluster, AksClusterArgs  # noqa: PLC0415

            aks = AksClusterArgs(
                choices=config.cluster,
                environment=config.environment,
                groups=groups,
                identities=config.identities,
                storage=config.storage,
                volumes=volumes_of(config.namespaces),
            )
            return AksCluster(name, aks, below).handle
        case ExistingConfig():
            from components.clusters.existing import ExistingCluster, ExistingClusterArgs  # noqa: PLC0415

            if sighting is None:
                raise ValueError("an existing cluster needs an inventory")
            existing = ExistingClusterArgs(
                choices=config.cluster, sighting=sighting, groups=groups, storage=config.storage
            )
            return ExistingCluster(name, existing, below).handle
