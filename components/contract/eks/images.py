"""Sources of images of EKS nodes other than the registry that an image names."""

import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from components.contract.choices import Explained, Findings
from components.contract.images import Mirror

DOCKER_HUB: Final = "docker.io"
"""Registry of images that name none. containerd finds its mirrors under this name."""

_LABEL: Final = "[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_HOST: Final = rf"{_LABEL}(\.{_LABEL})+(:[0-9]{{1,5}})?"

_PART: Final = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_PREFIX: Final = rf"{_PART}(/{_PART})*"
_PREFIX_LENGTHS: Final = (2, 30)
"""API model of ECR, ``PullThroughCacheRuleRepositoryPrefix``."""


def _is_ecr(name: str) -> bool:
    """Return whether a registry is ECR, by any of its names: https://docs.aws.amazon.com/general/latest/gr/ecr.html."""
    return re.search(r"\.dkr[.-]ecr", name.partition("/")[0]) is not None


def _registry(host: str) -> str:
    if host in (f"index.{DOCKER_HUB}", f"registry-1.{DOCKER_HUB}"):
        raise ValueError(f"is {DOCKER_HUB} in names of images; write {DOCKER_HUB}")
    if not re.fullmatch(_HOST, host):
        raise ValueError(f"give the host in names of images, such as {DOCKER_HUB}, without https:// or a path")
    if _is_ecr(host):
        raise ValueError("is ECR, which nodes reach inside AWS; remove it")
    return host


def _apart(mirrors: Mapping[str, str]) -> Mapping[str, str]:
    findings = Findings()
    for registry, mirror in mirrors.items():
        if _is_ecr(mirror):
            message = "is ECR, and containerd sends no login to a mirror; name the image in ECR (cluster.imageCaches)"
            findings.add(message, registry, given=mirror)
        elif mirror.partition("/")[0] == registry:
            findings.add("is the registry itself; give another host", registry, given=mirror)
    findings.raise_if_any()
    return mirrors


def _prefix(prefix: str) -> str:
    shortest, longest = _PREFIX_LENGTHS
    if prefix == "ROOT":
        raise ValueError("would let nodes create any repository; make rules of ECR with prefixes, and name those")
    if not re.fullmatch(_PREFIX, prefix) or not shortest <= len(prefix) <= longest:
        raise ValueError(
            f"must be the prefix of a pull-through cache rule of ECR, {shortest} to {longest} characters such as k8s"
        )
    return prefix


def _once(prefixes: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(prefixes)) < len(prefixes):
        raise ValueError("lists a prefix twice; remove one")
    return prefixes


NodeMirrors = Annotated[
    dict[Annotated[str, AfterValidator(_registry)], Mirror],
    Field(
        description="Mirrors that nodes try first, without a login, by the registry that images name.",
        examples=[{"docker.io": "mirror.corp.example/docker"}],
    ),
    AfterValidator(_apart),
    Explained(
        "Nodes pull from the registry that an image names.",
        "User data of nodes: a change replaces all but data nodes. The names of images do not change.",
    ),
]

ImageCaches = Annotated[
    tuple[Annotated[str, AfterValidator(_prefix)], ...],
    Field(
        description="Prefixes of pull-through caches in the account's ECR, which nodes fill by pulling.",
        examples=[["k8s", "quay"]],
    ),
    AfterValidator(_once),
    Explained(
        "Nodes only pull images that are in ECR already.",
        "The right of nodes to create repositories below these prefixes.",
    ),
]
