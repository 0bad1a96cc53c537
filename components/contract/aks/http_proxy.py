"""Proxy and trusted certificates of nodes, in the spelling of AKS."""

import base64
from collections.abc import Sequence
from typing import Any

from components.contract.proxy import Proxy


def http_proxy_config(proxy: Proxy, network: str) -> dict[str, Any]:
    """Return the cluster's proxy by the names of the SDK's arguments.

    AKS refuses addresses without a slash at their end (https://github.com/Azure/AKS/issues/5561), and adds its API,
    pods, Services and the metadata service to the exceptions. Domains lose the dot in front, because AKS wants names
    that keep to RFC 1123 (https://learn.microsoft.com/azure/aks/http-proxy); clients then except the bare name as well.

    Parameters
    ----------
    network
        Range of the whole network, which is excepted.
    """
    exceptions = (network, *(text.removeprefix(".") for text in proxy.exceptions))
    return {
        "http_proxy": f"{proxy.http}/",
        "https_proxy": f"{proxy.for_https}/",
        "no_proxy": list(dict.fromkeys(exceptions)),
    }


def trusted_certificates(certificates: Sequence[str]) -> list[str]:
    """Return certificates as the API takes them."""
    return [base64.b64encode(each.encode()).decode() for each in certificates]
