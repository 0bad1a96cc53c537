"""The minor versions of Kubernetes, one row each: how long each cloud supports it, and the autoscaler's release for it.

A new minor is one row here, plus the stack files that use it. The rest is derived: the versions that a stack file may
choose, its schema and reference, the rules on ended versions, the autoscaler's image, and what the emulators of the
clouds offer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, Field, ValidationInfo

from components.contract.choices import Explained

READ_ON: Final = date(2026, 11, 21)
"""The day on which the calendars were last read.

A stack file may not choose a version whose support had ended by then.
"""

SKEW_MAX: Final = 3
"""Minor versions that nodes may be behind the control plane: https://kubernetes.io/releases/version-skew-policy/#kubelet."""

Cloud: TypeAlias = Literal["eks", "aks"]


@dataclass(frozen=True)
class Support:
    """What a cloud states about one minor; None if its pages do not say.

    Parameters
    ----------
    ends
        Last day of support; on EKS, of standard support.
    released
        First day on which clusters could use it.
    extended_ends
        On EKS, last day of extended support.
    """

    ends: date | None
    released: date | None = None
    extended_ends: date | None = None


@dataclass(frozen=True, kw_only=True)
class KubernetesMinor:
    """One minor version.

    Parameters
    ----------
    support
        Support by cloud; without clouds that never offered the minor. EKS:
        https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html; for minors whose support has ended,
        https://endoflife.date/amazon-eks.
        AKS: https://learn.microsoft.com/azure/aks/supported-kubernetes-versions. Azure names months; the day is their
        last. Minors that had ended before the calendar was first read have none.
    autoscaler
        Release of Cluster Autoscaler, which holds a copy of this minor's scheduler:
        https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/README.md#releases. The patch is the
        version that kOps installs (``pkg/model/components/clusterautoscaler.go``). None for
        minors that had ended by then.
    """

    support: Mapping[Cloud, Support]
    autoscaler: str | None = None


MINORS: Final[Mapping[str, KubernetesMinor]] = {
    "1.30": KubernetesMinor(support={"eks": Support(date(2025, 7, 23), date(2024, 5, 23), date(2026, 7, 23))}),
    "1.31": KubernetesMinor(support={"eks": Support(date(2025, 11, 26), date(2024, 9, 26), date(2026, 11, 26))}),
    "1.32": KubernetesMinor(support={"eks": Support(date(2026, 3, 23), date(2025, 1, 25), date(2027, 3, 23))}),
    "1.33": KubernetesMinor(support={"eks": Support(date(2026, 7, 29), date(2025, 5, 28), date(2027, 7, 29))}),
    "1.34": KubernetesMinor(
        support={
            "eks": Support(date(2026, 12, 2), date(2025, 10, 6), date(2027, 12, 2)),
            "aks": Support(date(2026, 11, 30)),
        },
        autoscaler="v1.34.4",
    ),
    "1.35": KubernetesMinor(
        support={
            "eks": Support(date(2027, 3, 27), date(2026, 1, 28), date(2028, 3, 27)),
            "aks": Support(date(2027, 3, 31)),
        },
        autoscaler="v1.35.1",
    ),
    "1.36": KubernetesMinor(
        support={
            "eks": Support(date(2027, 8, 2), date(2026, 6, 2), date(2028, 8, 2)),
            "aks": Support(date(2027, 6, 30)),
        },
        autoscaler="v1.36.0",
    ),
}
"""Rows by minor version, oldest first."""


def calendar(cloud: Cloud) -> dict[str, Support]:
    """Return what a cloud states about every minor that it offers or offered, oldest first."""
    return {minor: row.support[cloud] for minor, row in MINORS.items() if cloud in row.support}


def offered(cloud: Cloud) -> tuple[str, ...]:
    """Return the minors that a stack file may choose on a cloud, oldest first."""
    return tuple(minor for minor, its in calendar(cloud).items() if its.ends is None or its.ends >= READ_ON)


def older_of(one: str, other: str) -> str:
    """Return the older of two minors such as ``1.35``."""
    return min(one, other, key=_number)


def require_fitting_nodes(nodes: str, control_plane: str) -> None:
    """Refuse nodes of a minor that cannot work with a control plane of another.

    Raises
    ------
    ValueError
        The nodes are newer, or too old.
    """
    behind = _number(control_plane) - _number(nodes)
    if behind < 0:
        raise ValueError(f"must not be newer than version, {control_plane}: nodes follow the control plane")
    if behind > SKEW_MAX:
        raise ValueError(f"must be at most {SKEW_MAX} minor versions behind version, {control_plane}")


def _number(minor: str) -> int:
    return int(minor.partition(".")[2])


def autoscaler_release(minor: str) -> str:
    """Return the release of Cluster Autoscaler for clusters of a minor, such as ``v1.35.1``.

    Raises
    ------
    KeyError
        No stack file may choose the minor.
    """
    release = MINORS[minor].autoscaler
    if release is None:
        raise KeyError(minor)
    return release


def one_offered(cloud: Cloud, refusal: str) -> tuple[AfterValidator, Any]:
    """Return the annotation that restricts a text to a cloud's minors, as a check and in the schema for editors.

    Parameters
    ----------
    refusal
        Message about any other version; the choices follow it.
    """

    def check(text: str) -> str:
        if text not in offered(cloud):
            raise ValueError(refusal)
        return text

    def describe(schema: dict[str, Any]) -> None:
        schema["enum"] = list(offered(cloud))

    return AfterValidator(check), Field(json_schema_extra=describe)


def _beside_the_control_plane(nodes: str | None, info: ValidationInfo) -> str | None:
    if nodes and (version := info.data.get("version")):
        require_fitting_nodes(nodes, version)
    return nodes


_Offered = TypeVar("_Offered")

NodeVersion = Annotated[
    _Offered | None,
    AfterValidator(_beside_the_control_plane),
    Field(
        description="Minor version of the nodes, in quotes: that of the control plane, or up to three minors older.",
        examples=["1.35"],
    ),
    Explained(
        "That of the control plane.",
        "Whether nodes are upgraded together with the control plane; if they follow later, a rollback is quicker "
        "(docs/node-upgrades.md).",
    ),
]
"""The field ``node_version`` of a cloud's cluster, by the type of the minors that the cloud offers.

It must be declared after ``version``, with which it is compared.
"""
