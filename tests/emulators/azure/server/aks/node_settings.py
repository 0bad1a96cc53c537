"""Proxy and trusted certificates of nodes.

Sources: https://learn.microsoft.com/azure/aks/http-proxy and .../custom-certificate-authority. The words of refusals
are from https://github.com/Azure/AKS/issues/5561 and from the second page; the code of the second is assumed.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from emulators.azure.server.refusals import invalid
from emulators.core.refusal import Refusal

CERTIFICATES_MAX: Final = 10

OWN: Final = ("konnectivity", "localhost", "127.0.0.1", "169.254.169.254", "168.63.129.16")
"""What AKS adds to the exceptions of every proxy, beside the address of the API and the ranges of pods and Services.

https://github.com/hashicorp/terraform-provider-azurerm/issues/24188 and https://github.com/hashicorp/terraform-provider-azurerm/pull/14177.
"""

_ADDRESSES: Final = (("httpProxy", ("http",), "HTTPProxy"), ("httpsProxy", ("http", "https"), "HTTPSProxy"))
_EXCEPTION: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?(/[0-9]+)?")
_PEM: Final = re.compile(rb"-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/=]+\n)+-----END CERTIFICATE-----\n?")


def check(properties: Mapping[str, Any]) -> None:
    """Refuse a proxy or certificates that AKS does not take."""
    proxy = properties.get("httpProxyConfig") or {}
    for name, schemes, words in _ADDRESSES:
        given = proxy.get(name)
        url = urlsplit(given or "")
        if given and (url.scheme not in schemes or not url.hostname or url.path not in ("", "/") or "@" in url.netloc):
            told = f"The url {given} is not correct for the property HTTPProxyConfig.{words}"
            raise Refusal("HTTPProxyWrongUrlError", 400, told)
    for each in proxy.get("noProxy") or ():
        if not _EXCEPTION.fullmatch(each.lower()):
            raise invalid("httpProxyConfig.noProxy", f"{each} is no name that keeps to RFC 1123, and no range.")
    certificates = (properties.get("securityProfile") or {}).get("customCATrustCertificates") or ()
    if len(certificates) > CERTIFICATES_MAX:
        raise invalid("securityProfile.customCATrustCertificates", f"At most {CERTIFICATES_MAX} are allowed.")
    for each in certificates:
        if not _PEM.fullmatch(_decoded(each)):
            told = "failed to decode one of SecurityProfile.CustomCATrustCertificates to PEM after base64 decoding"
            raise invalid("securityProfile.customCATrustCertificates", told)


def with_own_exceptions(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties in which AKS's own exceptions follow those that were sent."""
    proxy = properties.get("httpProxyConfig")
    if not proxy:
        return dict(properties)
    network = properties["networkProfile"]
    ranges = [network[name] for name in ("podCidr", "serviceCidr") if network.get(name)]
    api = properties.get("privateFQDN") or properties.get("fqdn")
    exceptions = dict.fromkeys((*(proxy.get("noProxy") or ()), *OWN, *filter(None, [api]), *ranges))
    return {**properties, "httpProxyConfig": {**proxy, "noProxy": list(exceptions)}}


def _decoded(text: str | bytes) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""
