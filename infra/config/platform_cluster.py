"""The cluster of a stack file, for the settings of systems on it."""

from dataclasses import replace

from components.contract.ingress import WaysIn, suffixes
from components.contract.namespaces import core_of
from components.contract.placement import offers_mutation
from components.contract.systems.platform_cluster import PlatformCluster
from infra.config.model import StackConfig


def platform_cluster(
    config: StackConfig, *, namespace: str = "", version: str = "", mutates: bool = False
) -> PlatformCluster:
    """Return the parts of a stack file from which settings of systems are derived.

    Parameters
    ----------
    config
        The stack file.
    namespace
        Namespace of the system; if it is a user namespace, its own settings of MLRun apply too. Default: only those of
        the whole platform.
    version
        Version of Kubernetes instead of the stack's, such as ``1.36``. Default: the stack's.
    mutates
        Whether admission adds places; used if neither the stack file nor ``version`` determines it.
    """
    cluster = config.cluster.model_dump(by_alias=True)
    # A given version applies even to a local cluster, which itself has the newest one.
    asked = {"mutatingAdmission": cluster.get("mutatingAdmission"), "version": version}
    said = offers_mutation(asked if version else cluster)
    here = config.namespaces.get(namespace)
    return PlatformCluster(
        groups=config.groups,
        spot_taint=config.spot_taint,
        pod_resources=config.pod_resources,
        places_by_itself=mutates if said is None else said,
        environment=config.environment,
        profile=config.profile,
        mlrun=config.platform.mlrun.with_own(here.mlrun if here else None),
        job_accounts=here.job_accounts if here else (),
        platform_registries=tuple(config.policies.platform_registries),
        ways_in=_ways_in(config, namespace),
    )


def _ways_in(config: StackConfig, namespace: str) -> WaysIn | None:
    found = config.ways_in
    return replace(found, suffix=suffixes(core_of(config.namespaces)).get(namespace, "")) if found else None
