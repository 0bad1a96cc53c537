"""What holds around the account and no request of AWS's API can set: tests set it."""

from typing import Final

from pydantic import Field

from emulators.core.control import Body
from emulators.core.service_context import ControlPlane

CLOSED_ZONES: Final = frozenset({"use1-az3", "usw1-az2", "cac1-az3"})
"""Ids of zones without control planes: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html."""


class Circumstances(Body):
    """What tests can set; what they leave out is as usual.

    Parameters
    ----------
    closed_zones
        Ids of more zones in which EKS makes no control planes, because the server's one region has none of AWS's own.
    has_late_logs
        A control plane that is gone writes its last logs once its log group was deleted, which makes the group again:
        terraform-aws-modules/terraform-aws-eks#2446. At most once for each cluster.
    control_plane
        Empty API server that clusters made from now on lead to. EKS gives each cluster one of its own; the emulator
        has one for all of them, which keeps what was in a cluster that is gone.
    insights
        Statuses of further insights into clusters that can go back, by name.
    """

    closed_zones: frozenset[str] = frozenset()
    has_late_logs: bool = False
    control_plane: ControlPlane | None = None
    insights: dict[str, str] = Field(default_factory=dict)
