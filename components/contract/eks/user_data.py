"""User data of nodes: what a node sets up before its first container. EKS merges it with its own.

It uses interfaces of Amazon's image (awslabs/amazon-eks-ami 062cf518): nodeadm reads the environment of all services
from NodeConfig (``nodeadm/internal/api/types.go``, ``EnvironmentOptions``) and starts containerd and kubelet
after the scripts (``nodeadm-run.service``).
"""

import json
from collections.abc import Mapping, Sequence
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from typing import Annotated, Final

from pydantic import Field

from components.contract.certificates import Certificates
from components.contract.choices import Explained
from components.contract.proxy import Proxy

USER_DATA_MAX: Final = 12 * 1024
"""Maximum number of bytes. EC2 allows 16 KiB (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html), of
which EKS adds a part with the cluster's address and authority, labels and taints: assumed to need 4 KiB.
"""

PROXY_RELEASE_MIN: Final = "20251120"
"""Date from which releases of the image set the environment before their own requests: awslabs/amazon-eks-ami#2489."""

ALWAYS_DIRECT: Final = (
    *("localhost", "127.0.0.1"),
    "169.254.169.254",  # metadata of the instance
    "169.254.170.23",  # agent of EKS Pod Identity
    *(".svc", ".cluster.local"),
    ".internal",  # names of nodes
    ".eks.amazonaws.com",  # the API's private endpoint
)
"""Hosts that nodes never reach through a proxy."""

_BOUNDARY: Final = "=====igz-clusters====="
_ANCHORS: Final = "/etc/pki/ca-trust/source/anchors/igz-clusters.pem"
"""File of trusted certificates: Amazon Linux 2023, update-ca-trust(8)."""

_REGISTRIES: Final = "/etc/containerd/certs.d"
"""Folder of registries in the image's containerd: awslabs/amazon-eks-ami, ``containerd/config.template.toml``."""

NodeProxy = Annotated[
    Proxy | None,
    Field(
        description="HTTP proxy of the nodes; AWS itself is reached without it (docs/closed-networks.md).",
        examples=[{"http": "http://proxy.corp.example:3128", "except": [".corp.example"]}],
    ),
    Explained(
        "Nodes reach registries through NAT.",
        "User data of nodes: a change replaces all but data nodes. Pods do not get it.",
    ),
]

TrustedCertificates = Annotated[
    Certificates,
    Explained(
        "Public authorities sign for public registries.",
        "User data of nodes: a change replaces all but data nodes. Containers do not see them.",
    ),
]


def proxy_environment(proxy: Proxy, region: str, ranges: Sequence[str]) -> dict[str, str]:
    """Return the environment of a node's services.

    Parameters
    ----------
    proxy
        The proxy.
    region
        Region whose AWS services are reached directly, as add-ons reach them: by endpoints, or by NAT.
    ranges
        Ranges of the VPC and of Services. Go compares them only with addresses in URLs, never with resolved names.
    """
    direct = (*ALWAYS_DIRECT, f".{region}.amazonaws.com", *ranges, *proxy.exceptions)
    return {
        "HTTP_PROXY": proxy.http,
        "HTTPS_PROXY": proxy.for_https,
        "NO_PROXY": ",".join(dict.fromkeys(direct)),
    }


def user_data(environment: Mapping[str, str], certificates: Sequence[str], mirrors: Mapping[str, str]) -> str:
    """Return user data in MIME's multipart format, the only one that EKS merges; empty if nothing is to be set up."""
    whole = MIMEMultipart(boundary=_BOUNDARY)
    if environment:
        spec = {"instance": {"environment": {"default": dict(environment)}}}
        config = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}
        whole.attach(_part("application", "node.eks.aws", json.dumps(config, indent=1)))
    if certificates or mirrors:
        script = "".join(["#!/bin/bash\n", _trust(certificates), *(map(_mirrored, mirrors, mirrors.values()))])
        whole.attach(_part("text", "x-shellscript", script))
    return whole.as_string() if whole.get_payload() else ""


def _trust(certificates: Sequence[str]) -> str:
    return f"cat > {_ANCHORS} <<'END'\n{''.join(certificates)}END\nupdate-ca-trust\n" if certificates else ""


def _mirrored(registry: str, mirror: str) -> str:
    """Return commands that make containerd try a mirror first, and then the registry itself.

    A path must be between the API's version and the image's name, which needs ``override_path``:
    https://github.com/containerd/containerd/blob/main/docs/hosts.md.
    """
    folder = f"{_REGISTRIES}/{registry}"
    host, _, path = mirror.partition("/")
    lines = [f'[host."https://{host}/v2/{path}"]', "  override_path = true"] if path else [f'[host."https://{host}"]']
    lines.append('  capabilities = ["pull", "resolve"]')
    return f"mkdir -p {folder}\ncat > {folder}/hosts.toml <<'END'\n" + "\n".join(lines) + "\nEND\n"


def _part(main: str, sub: str, text: str) -> MIMENonMultipart:
    part = MIMENonMultipart(main, sub)
    part.set_payload(text)
    return part
