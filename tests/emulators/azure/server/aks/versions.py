"""Versions of Kubernetes: which there are, and which steps from one to another AKS takes.

Sources: https://learn.microsoft.com/azure/aks/supported-kubernetes-versions and .../azure/aks/upgrade-aks-cluster.
"""

import re
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from components.contract.kubernetes_minors import MINORS, offered
from emulators.azure.server.refusals import bad_request, invalid
from emulators.core.refusal import Refusal

NEWEST_PATCH: Final = 8
"""Every minor has all patches up to this one; made up, as patches come and go."""

POOLS_BEHIND: Final = 3
"""Minor versions that an agent pool may be older than the control plane."""

_TRY: Final = "Please use [az aks get-upgrades] command to get the supported upgrade paths."


@dataclass(frozen=True, order=True)
class Version:
    """A version with its patch."""

    minor: int
    patch: int

    @override
    def __str__(self) -> str:
        return f"1.{self.minor}.{self.patch}"


def minors() -> list[str]:
    """Return the minor versions that there are: those that a stack file may choose, and older ones of pools."""
    oldest = min(map(_number, offered("aks"))) - POOLS_BEHIND
    return [minor for minor in MINORS if _number(minor) >= oldest]


def default() -> str:
    """Return the version of a cluster that names none: the minor before the newest."""
    return offered("aks")[-2:][0]


def _number(minor: str) -> int:
    return int(minor.partition(".")[2])


def version(text: str, parameter: str) -> Version:
    """Return the version that a text means; without a patch it means the newest.

    Raises
    ------
    Refusal
        It is none that is offered.
    """
    parts = re.fullmatch(r"(1\.(\d+))(?:\.(\d+))?", text)
    if not parts:
        raise invalid(parameter, f"{text!r} is no version.")
    patch = int(parts[3]) if parts[3] else NEWEST_PATCH
    if parts[1] not in minors() or patch > NEWEST_PATCH:
        newest = ", ".join(f"{minor}.{NEWEST_PATCH}" for minor in minors())
        told = f"Version {text} is not supported in this region. Newest patches: {newest}. {_TRY}"
        raise Refusal("K8sVersionNotSupported", 400, told)
    return Version(int(parts[2]), patch)


def meant(text: str, running: Version) -> Version:
    """Return the version that a text means for what runs already: without a patch it stays within its minor one."""
    is_same_minor = text == f"1.{running.minor}"
    return running if is_same_minor or text == str(running) else version(text, "kubernetesVersion")


def check_cluster_step(old: Version, new: Version, name: str) -> None:
    """Refuse a control plane that goes back, or further than one minor version."""
    if new < old:
        raise bad_request(f"Downgrading cluster {name} from {old} to {new} is not allowed.")
    if new.minor > old.minor + 1:
        told = f"Upgrading Kubernetes version {old} to {new} is not allowed. Available upgrades: one minor version. "
        raise Refusal("OperationNotAllowed", 400, told + _TRY)


def check_pool_step(old: Version, new: Version) -> None:
    """Refuse an agent pool that goes back, or further than one minor version."""
    if new < old or new.minor > old.minor + 1:
        told = f"Upgrade agent pool version from {old} to {new} is not allowed, you can only upgrade one minor version"
        raise Refusal("AgentPoolUpgradeVersionNotAllowed", 400, f"{told} at a time. {_TRY}")


def check_skew(pool: Version, cluster: Version, name: str) -> None:
    """Refuse an agent pool that is newer than its control plane, or too old for it."""
    if pool > cluster:
        how = f"version of node pool {pool} is bigger than control plane version {cluster}"
    elif pool.minor < cluster.minor - POOLS_BEHIND:
        how = f"version of node pool {pool} is more than {POOLS_BEHIND} minor versions older than that of {cluster}"
    else:
        return
    told = f"Node pool {name} version {pool} and control plane version {cluster} are incompatible: {how}."
    raise Refusal("NodePoolMcVersionIncompatible", 400, f"{told} See https://aka.ms/aks/UpgradeVersionRules.")
