"""Proxy and trusted certificates of nodes, in the spelling of AKS."""

import base64
from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import Field

from components.contract.certificates import Certificates
from components.contract.choices import Explained
from components.contract.proxy import Proxy

SERVICE_NAMES: Final = ("svc", "cluster.local")
"""Suffixes of the names of Services; unless these are excepted, pods send their calls to each other to the proxy."""

NodeProxy = Annotated[
    Proxy | None,
    Field(
        description="HTTP proxy of nodes and pods (docs/closed-networks.md).",
        examples=[{"http": "http://proxy.corp.example:3128", "except": [".corp.example"]}],
    ),
    Explained(
        "Nodes reach registries through NAT.",
        "Environment of nodes and of every pod: AKS replaces all nodes after a change.",
    ),
]

TrustedCertificates = Annotated[
    Certificates,
    Explained(
        "Public authorities sign for public registries.",
        "The trust of nodes: AKS replaces all of them after a change. Containers do not see them.",
    ),
]


def http_proxy_config(proxy: Proxy, network: str) -> dict[str, Any]:
    """Return the settings of the cluster's proxy, by the names of the SDK's arguments.

    AKS itself excepts its API, pods, Services and the metadata service, but no names of Services
    (https://github.com/Azure/AKS/issues/3174). Clients compare names, so these are excepted here. AKS refused addresses
    without a trailing slash (https://github.com/Azure/AKS/issues/5561). The leading dot of domains is removed, because
    AKS requires names that conform to RFC 1123 (https://learn.microsoft.com/azure/aks/http-proxy); clients then except
    the bare name as well.

    Parameters
    ----------
    network
        Range of the whole network, which is excepted.
    """
    exceptions = (network, *SERVICE_NAMES, *(text.removeprefix(".") for text in proxy.exceptions))
    return {
        "http_proxy": f"{proxy.http}/",
        "https_proxy": f"{proxy.for_https}/",
        "no_proxy": list(dict.fromkeys(exceptions)),
    }


def is_excepted(proxy: Proxy, host: str) -> bool:
    """Return whether nodes and pods call a host without the proxy: by its name, or that of a domain around it."""
    domains = (text.removeprefix(".") for text in proxy.exceptions)
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def trusted_certificates(certificates: Sequence[str]) -> list[str]:
    """Return certificates as the API accepts them, encoded in base64."""
    return [base64.b64encode(each.encode()).decode() for each in certificates]
