"""Proxy and trusted certificates of an AKS cluster: AKS replaces all nodes after a change, and keeps what is left out.

https://learn.microsoft.com/azure/aks/http-proxy and https://learn.microsoft.com/azure/aks/custom-certificate-authority.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from components.contract.aks.config import AksConfig
from components.contract.aks.http_proxy import http_proxy_config, trusted_certificates
from workbench.engine.clouds.aks.cluster_components import AksCluster
from workbench.engine.clouds.aks.conditions import CLUSTER
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.fixed_choice import resources_of


def data_blockers(choices: AksConfig, deployment: Mapping[str, Any]) -> Iterator[Blocker]:
    """Return a blocker for each of the two that would change, for clusters with data pools.

    Compared is what was last sent, because AKS adds exceptions of its own.

    Parameters
    ----------
    choices
        The cluster section of the stack file.
    deployment
        The stack's state, as exported.
    """
    cluster = next(resources_of(deployment, CLUSTER), None)
    if cluster is None:
        return
    sent = cluster.get("inputs") or {}
    for key, noun, live, declared in (
        ("proxy", "proxy", sent.get("httpProxyConfig") or {}, _proxy(choices)),
        (
            "trustedCertificates",
            "certificates",
            _certificates(sent),
            trusted_certificates(choices.trusted_certificates),
        ),
    ):
        if live != declared:
            yield Blocker(
                f"cluster.{key}",
                f"NG-20: the {noun} of the nodes would change",
                "AKS replaces all nodes then, and data nodes lose their disks",
                "Set it back. For another value, create a second stack with a cluster of another name and move there.",
            )


def kept(choices: AksConfig, cluster: AksCluster) -> Iterator[str]:
    """Return a note for each of the two that the stack file no longer names, which AKS keeps all the same."""
    if cluster.inputs.get("httpProxyConfig") and not choices.proxy:
        yield (
            "AKS keeps a proxy that the stack file no longer names. To turn it off, which replaces all nodes: "
            f"`az aks update {cluster.is_} --disable-http-proxy`."
        )
    if _certificates(cluster.inputs) and not choices.trusted_certificates:
        remove = "--set properties.securityProfile.customCATrustCertificates=[]"
        yield (
            "AKS keeps certificates that the stack file no longer names. To remove them, which replaces all nodes: "
            f"`az resource update --ids {choices.cluster_id} {remove}`."
        )


def _proxy(choices: AksConfig) -> dict[str, Any]:
    config = http_proxy_config(choices.proxy, choices.network.cidr) if choices.proxy else {}
    return {to_camel(name): value for name, value in config.items()}


def _certificates(inputs: Mapping[str, Any]) -> list[str]:
    profile = inputs.get("securityProfile") or {}
    return list(profile.get("customCATrustCertificates") or ())
