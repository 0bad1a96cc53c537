"""HN-08: user data and proxy settings of nodes contain no secrets."""

import base64
import re
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from typing import Final

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of
from policies.values import NotJudgeableError
from policies.views.node_groups.aks import MANAGED_CLUSTER
from policies.views.type_tokens import LAUNCH_TEMPLATE

SECRETS: Final[Mapping[str, re.Pattern[str]]] = {
    "a login in an address": re.compile(r"https?://[^/?#\s\"']*@"),
    "a private key": re.compile("PRIVATE KEY-----"),
    "an access key of AWS": re.compile(r"\bA[KS]IA[A-Z0-9]{16}\b"),
}
"""Secrets with a recognisable form, by their name in messages."""


_GZIP: Final = b"\x1f\x8b"


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Reject secrets in user data, and logins in the addresses of a proxy, which AKS passes to every pod."""
    if resource.type == LAUNCH_TEMPLATE:
        given = resource.props.at("userData").text()
        contents = _contents(given) if given else []
        texts = [content.decode(errors="replace") for content in contents]
        found = [secret for secret, form in SECRETS.items() if any(map(form.search, texts))]
        for secret in found:
            yield Finding(f"Launch template '{resource.name}' has {secret} in its user data; expected no secrets.")
        if not found and any(content.startswith(_GZIP) for content in contents):
            raise NotJudgeableError("userData", "is compressed")
        return
    for key in ("httpProxy", "httpsProxy"):
        address = resource.props.at("httpProxyConfig", key).text()
        if address and "@" in address:
            yield Finding(f"Cluster '{resource.name}' has a login in httpProxyConfig.{key}; expected none.")


def _contents(given: str) -> list[bytes]:
    """Return user data, which the API takes in base64, and each MIME part in it."""
    try:
        whole = base64.b64decode("".join(given.split()), validate=True)
    except ValueError:
        whole = given.encode(errors="replace")
    parts = (each.get_payload(decode=True) for each in message_from_bytes(whole).walk())
    return [whole, *(part for part in parts if isinstance(part, bytes))]


RULE = Rule(
    id="HN-08",
    slug="user-data-has-no-secrets",
    title="User data and proxy settings of nodes must contain no secrets",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Amazon EC2 user guide, Run commands when you launch an EC2 instance (security of user data)",
    applies_to=resources_of("each launch template and each AKS cluster", LAUNCH_TEMPLATE, MANAGED_CLUSTER),
    why="User data is not encrypted: all who may describe launch templates, and every process of a node, can read it. "
    "AKS puts the proxy's address into every pod.",
    fix="Let the proxy admit the addresses of the cluster; read secrets with a role when they are needed.",
    check=check,
)
