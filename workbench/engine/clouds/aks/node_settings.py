"""Proxy and trusted certificates of an AKS cluster: AKS replaces all nodes after a change, and keeps what is left out.

https://learn.microsoft.com/azure/aks/http-proxy and https://learn.microsoft.com/azure/aks/custom-certificate-authority.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any, Final

from pydantic.alias_generators import to_camel

from components.contract.aks.config import AksConfig
from components.contract.aks.http_proxy import http_proxy_config, trusted_certificates
from workbench.engine.clouds.aks.cluster_components import AksCluster
from workbench.engine.clouds.aks.conditions import CLUSTER
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.fixed_choice import resources_of

OWN_EXCEPTIONS: Final = ("konnectivity", "localhost", "127.0.0.1", "169.254.169.254", "168.63.129.16")
"""What AKS adds to the exceptions of every proxy, besides the names of the API and the ranges of pods and Services.

https://github.com/hashicorp/terraform-provider-azurerm/issues/24188 and https://github.com/hashicorp/terraform-provider-azurerm/pull/14177.
"""


def data_blockers(choices: AksConfig, deployment: Mapping[str, Any]) -> Iterator[Blocker]:
    """Return a blocker each if the proxy or the certificates of a cluster with data pools would change.

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
    own = {*OWN_EXCEPTIONS, choices.pod_cidr, choices.service_cidr, *_api_names(cluster.get("outputs") or {})}
    live, declared = (_proxy_without(each, own) for each in (sent.get("httpProxyConfig") or {}, _proxy(choices)))
    if live != declared:
        more = [text for text in live.get("noProxy", ()) if text not in declared.get("noProxy", ())]
        yield _blocker("proxy", "proxy", f" Azure has these exceptions too: {', '.join(more)}." if more else "")
    if _certificates(sent) != trusted_certificates(choices.trusted_certificates):
        yield _blocker("trustedCertificates", "certificates")


def _blocker(key: str, noun: str, more: str = "") -> Blocker:
    return Blocker(
        f"cluster.{key}",
        f"NG-20: the {noun} of the nodes would change",
        "AKS replaces all nodes then, and data nodes lose their disks",
        f"Set it back.{more} For another value, create a second stack with a cluster of another name and move there.",
    )


def _api_names(outputs: Mapping[str, Any]) -> Iterator[str]:
    return (str(outputs[key]) for key in ("fqdn", "privateFQDN") if outputs.get(key))


def _proxy_without(proxy: Mapping[str, Any], own: Container[str]) -> dict[str, Any]:
    """Return a proxy without AKS's own exceptions, which a refresh adds to the recorded inputs."""
    return {**proxy, "noProxy": [text for text in proxy["noProxy"] if text not in own]} if proxy else {}


def kept(choices: AksConfig, cluster: AksCluster) -> Iterator[str]:
    """Return a note each if the stack file no longer names a proxy or certificates: AKS keeps them."""
    if cluster.inputs.get("httpProxyConfig") and not choices.proxy:
        yield (
            "AKS keeps a proxy that the stack file no longer names. To turn it off, which replaces all nodes: "
            f"`az aks update {cluster.is_} --disable-http-proxy`. To use one again, run it with `--enable-http-proxy` "
            "before `up`."
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
