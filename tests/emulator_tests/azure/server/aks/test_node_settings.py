"""Proxy and trusted certificates of nodes."""

import base64
from typing import Any

from components.contract.certificates import EXAMPLE
from support.aks_account import Account, parametrized

PROXY = {"httpProxy": "http://proxy.corp.example:3128/", "httpsProxy": "https://proxy.corp.example:3129/"}


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_exceptions_come_back_with_those_of_aks(home: Account) -> None:
    mine = home.cluster(httpProxyConfig={**PROXY, "noProxy": ["10.1.0.0/16", "corp.example"]})
    found = home.properties(mine)
    told = found["httpProxyConfig"]["noProxy"]
    assert told[:2] == ["10.1.0.0/16", "corp.example"]
    assert {"konnectivity", "168.63.129.16", found["fqdn"], found["networkProfile"]["serviceCidr"]} <= set(told)


def test_a_proxy_and_certificates_that_are_left_out_stay(home: Account) -> None:
    certificates = {"customCATrustCertificates": [in_base64(EXAMPLE)]}
    mine = home.cluster(httpProxyConfig=PROXY, securityProfile=certificates)
    before = home.properties(mine)
    group = {"nodeResourceGroup": before["nodeResourceGroup"]}
    home.put(mine, home.cluster_body(**group))
    after = home.properties(mine)
    assert after["httpProxyConfig"] == before["httpProxyConfig"]
    assert after["securityProfile"] == certificates
    home.put(mine, home.cluster_body(**group, securityProfile={"customCATrustCertificates": []}))
    assert home.properties(mine)["securityProfile"] == {"customCATrustCertificates": []}


@parametrized(
    (
        {"httpProxyConfig": {"httpProxy": "http://proxy:3128/path"}},
        "HTTPProxyWrongUrlError",
        "HTTPProxyConfig.HTTPProxy",
    ),
    ({"httpProxyConfig": {"httpProxy": "https://proxy:3128/"}}, "HTTPProxyWrongUrlError", "https://proxy:3128/"),
    ({"httpProxyConfig": {"httpsProxy": "http://a:b@proxy/"}}, "HTTPProxyWrongUrlError", "HTTPSProxy"),
    ({"httpProxyConfig": {**PROXY, "noProxy": ["*.corp.example"]}}, "InvalidParameter", "RFC 1123"),
    ({"httpProxyConfig": {**PROXY, "noProxy": [".corp.example"]}}, "InvalidParameter", "RFC 1123"),
    (
        {"securityProfile": {"customCATrustCertificates": [in_base64("corp")]}},
        "InvalidParameter",
        "failed to decode one of SecurityProfile.CustomCATrustCertificates",
    ),
    (
        {"securityProfile": {"customCATrustCertificates": [in_base64(EXAMPLE.replace("\n", "\r\n"))]}},
        "InvalidParameter",
        "failed to decode one of SecurityProfile.CustomCATrustCertificates",
    ),
    ({"securityProfile": {"customCATrustCertificates": [EXAMPLE]}}, "InvalidParameter", "failed to decode"),
    (
        {"securityProfile": {"customCATrustCertificates": [in_base64(EXAMPLE)] * 11}},
        "InvalidParameter",
        "At most 10",
    ),
)
def test_what_aks_does_not_take_is_refused(home: Account, changes: dict[str, Any], code: str, words: str) -> None:
    told = home.refused("PUT", home.cluster_id(), home.cluster_body(**changes))
    assert (told.status, told.code) == (400, code)
    assert words in told.message
