"""User data of nodes, read as cloud-init and nodeadm read it."""

import json
import re
import tomllib
from datetime import UTC, datetime
from email import message_from_string
from email.message import Message
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

from components.contract.certificates import EXAMPLE
from components.contract.eks.user_data import proxy_environment, user_data
from components.contract.proxy import Proxy
from infra.config import ConfigurationError
from support.eks import config

PROXY = {"http": "http://proxy.corp.example:3128", "except": [".corp.example", "10.20.0.0/16"]}


def parts(text: str) -> dict[str, str]:
    """Return the parts of a multipart message by their types."""
    whole: Message[str, str] = message_from_string(text)
    assert whole.is_multipart()
    found: list[Any] = whole.get_payload()
    return {part.get_content_type(): part.get_payload() for part in found}


def authority(number: int) -> str:
    """Return the certificate of an authority for many names, of about 1,500 characters."""
    key, name = Ed25519PrivateKey.generate(), x509.Name.from_rfc4514_string(f"CN=Corp Root {number}")
    names = x509.SubjectAlternativeName([x509.DNSName(f"registry-{place:03}.corp.example") for place in range(32)])
    builder = x509.CertificateBuilder(name, name, key.public_key(), number + 1)
    builder = builder.not_valid_before(datetime(2026, 1, 1, tzinfo=UTC)).not_valid_after(
        datetime(2046, 1, 1, tzinfo=UTC)
    )
    signed = builder.add_extension(names, critical=False).sign(key, None)
    return signed.public_bytes(Encoding.PEM).decode()


def environment(**more: Any) -> dict[str, str]:
    return proxy_environment(Proxy.model_validate({**PROXY, **more}), "eu-west-1", ("10.20.0.0/16", "172.20.0.0/16"))


def test_nothing_to_set_up_is_no_user_data() -> None:
    assert user_data({}, [], {}) == ""
    assert config().cluster.user_data == ""


def test_services_of_a_node_learn_of_the_proxy_by_nodeadm() -> None:
    found = parts(user_data(environment(), [], {}))
    assert list(found) == ["application/node.eks.aws"]
    node = json.loads(found["application/node.eks.aws"])
    assert (node["apiVersion"], node["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
    assert node["spec"] == {"instance": {"environment": {"default": environment()}}}


def test_certificates_are_trusted_before_containerd_starts() -> None:
    found = parts(user_data({}, [EXAMPLE, EXAMPLE], {}))
    assert list(found) == ["text/x-shellscript"]
    script = found["text/x-shellscript"]
    assert script.startswith("#!/bin/bash\n")
    assert script.endswith(f"<<'END'\n{EXAMPLE}{EXAMPLE}END\nupdate-ca-trust\n")


def test_containerd_asks_mirrors_first_and_needs_no_other_names_of_images() -> None:
    mirrors = {"docker.io": "mirror.corp.example:5000/docker/hub", "quay.io": "mirror.corp.example"}
    script = parts(user_data({}, [EXAMPLE], mirrors))["text/x-shellscript"]
    assert script.count("#!/bin/bash") == 1
    assert script.index("update-ca-trust") < script.index("docker.io")
    files = dict(re.findall(r"cat > /etc/containerd/certs\.d/(\S+)/hosts\.toml <<'END'\n(.*?)END\n", script, re.DOTALL))
    capabilities = ["pull", "resolve"]
    assert {name: tomllib.loads(text) for name, text in files.items()} == {
        "docker.io": {
            "host": {
                "https://mirror.corp.example:5000/v2/docker/hub": {
                    "override_path": True,
                    "capabilities": capabilities,
                }
            }
        },
        "quay.io": {"host": {"https://mirror.corp.example": {"capabilities": capabilities}}},
    }
    for name in files:
        assert f"mkdir -p /etc/containerd/certs.d/{name}\n" in script


def test_one_proxy_serves_both_protocols_unless_there_is_another() -> None:
    assert environment()["HTTPS_PROXY"] == environment()["HTTP_PROXY"] == PROXY["http"]
    assert environment(https="https://proxy.corp.example:3129")["HTTPS_PROXY"] == "https://proxy.corp.example:3129"


def test_a_node_reaches_its_cluster_and_aws_without_the_proxy() -> None:
    direct = environment()["NO_PROXY"].split(",")
    assert len(set(direct)) == len(direct)
    assert {"169.254.169.254", "169.254.170.23", "10.20.0.0/16", "172.20.0.0/16"} <= set(direct)
    assert direct[-1] == ".corp.example"
    for name in (
        "0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com",
        "111122223333.dkr.ecr.eu-west-1.amazonaws.com",
        "ec2.eu-west-1.amazonaws.com",
        "ip-10-20-0-1.eu-west-1.compute.internal",
        "kubernetes.default.svc",
    ):
        assert any(name.endswith(entry) for entry in direct if entry.startswith(".")), name
    assert not any("public.ecr.aws".endswith(entry) for entry in direct if entry.startswith("."))


def test_user_data_stays_within_what_aws_takes() -> None:
    certificates = [authority(number) for number in range(10)]
    assert config({"cluster.trustedCertificates": certificates[:7], "cluster.proxy": PROXY})
    with pytest.raises(
        ConfigurationError,
        match=r"cluster\.trustedCertificates: needs 1\d{4} bytes of user data with proxy,",
    ):
        config({"cluster.trustedCertificates": certificates, "cluster.proxy": PROXY})
    names = [f"registry-{number}.{'a' * 60}.{'b' * 60}.{'c' * 60}.{'d' * 50}.example" for number in range(50)]
    with pytest.raises(ConfigurationError, match=r"cluster\.proxy: needs 1\d{4} bytes of user data, and"):
        config({"cluster.proxy": {**PROXY, "except": names}})
