"""The HTTP proxy of a network, through which nodes reach outside services such as image registries."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained
from components.contract.ranges import ipv4_network

EXCEPTIONS_MAX: Final = 50
"""Maximum number of exceptions, more than any network needs: each is in the environment of all processes of a node."""

_LABEL: Final = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME: Final = rf"{_LABEL}(\.{_LABEL})*"
_PORT_MAX: Final = 65535


def _address(url: str, schemes: tuple[str, ...], example: str) -> str:
    if "@" in url:
        raise ValueError(
            "must not contain a login, which the state, every node and on AKS every pod could read; let the proxy "
            "admit the addresses of the cluster"
        )
    found = re.fullmatch(rf"({'|'.join(schemes)})://{_NAME}(:(?P<port>[0-9]{{1,5}}))?/?", url)
    if not found:
        raise ValueError(f"must be an address in lower case without a path, such as {example}")
    if found["port"] and not 0 < int(found["port"]) <= _PORT_MAX:
        raise ValueError(f"names port {found['port']}; ports are 1 to {_PORT_MAX}")
    return url.removesuffix("/")


def _http(url: str) -> str:
    if url.startswith("https:"):
        raise ValueError("must begin with http://: clients speak plain HTTP to the proxy, also for encrypted requests")
    return _address(url, ("http",), "http://proxy.corp.example:3128")


def _https(url: str) -> str:
    return _address(url, ("http", "https"), "http://proxy.corp.example:3128")


def _exception(text: str) -> str:
    if "*" in text:
        raise ValueError("must not contain '*'; .corp.example means all names below corp.example")
    if re.fullmatch("[0-9./]+", text):
        ipv4_network(text if "/" in text else f"{text}/32")
    elif not re.fullmatch(rf"\.?{_NAME}", text):
        raise ValueError(
            "must be a name (registry.corp.example), a domain (.corp.example) or an IPv4 range, in lower case, without "
            "scheme and port"
        )
    return text


def _differing(exceptions: tuple[str, ...]) -> tuple[str, ...]:
    if twice := [text for place, text in enumerate(exceptions) if text in exceptions[:place]]:
        raise ValueError(f"lists {twice[0]} twice; remove one")
    return exceptions


HttpAddress = Annotated[str, AfterValidator(_http), Field(json_schema_extra={"pattern": "^http://[^/@]+/?$"})]
HttpsAddress = Annotated[str, AfterValidator(_https), Field(json_schema_extra={"pattern": "^https?://[^/@]+/?$"})]
ProxyException = Annotated[str, AfterValidator(_exception), Field(json_schema_extra={"pattern": "^[a-z0-9./-]+$"})]


class Proxy(ContractModel):
    """A proxy that admits the nodes by their addresses."""

    http: HttpAddress = Field(
        description="Address of the proxy for plain HTTP.", examples=["http://proxy.corp.example:3128"]
    )
    https: Annotated[HttpsAddress | None, Explained("Most proxies serve both at one address.")] = Field(
        None,
        description="Address of the proxy for HTTPS, if it differs from `http`.",
        examples=["http://proxy.corp.example:3129"],
    )
    exceptions: Annotated[
        tuple[ProxyException, ...],
        AfterValidator(_differing),
        Explained("The cluster's network, its API and the cloud's services are always excepted."),
    ] = Field(
        (),
        alias="except",
        max_length=EXCEPTIONS_MAX,
        description="Names, domains and IPv4 ranges that nodes reach without the proxy.",
        examples=[[".corp.example", "10.0.0.0/8"]],
    )

    @property
    def for_https(self) -> str:
        """Address of the proxy for HTTPS."""
        return self.https or self.http
