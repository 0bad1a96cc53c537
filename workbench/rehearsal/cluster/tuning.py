"""How the control plane of a rehearsal differs from the usual local one: compressed time, many pods, scratch data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.contract.clusters import ClusterChoices
from workbench.local import Owner, Tuning
from workbench.local.programs import AUTOSCALER, KARPENTER
from workbench.local.state import Flag
from workbench.rehearsal.settings import Pace

_TOLERATION: Final = 300.0
"""Seconds that pods stay on a node that is not ready or unreachable, unless they say otherwise: the defaults of
``--default-not-ready-toleration-seconds`` (kubernetes v1.36.3, ``plugin/pkg/admission/defaulttolerationseconds``)."""
_NODE_EVICTIONS: Final = 0.1
_NODE_EVICTIONS_IN_TROUBLE: Final = 0.01
"""Nodes that get their ``NoExecute`` taint, by second: the defaults of ``--node-eviction-rate`` and
``--secondary-node-eviction-rate`` (kubernetes v1.36.3, ``cmd/kube-controller-manager/app/options``)."""
_SYNC: Final = 15.0
_STABILIZATION: Final = 300.0
_CPU_INITIALIZATION: Final = 300.0
_INITIAL_READINESS: Final = 30.0
"""Seconds between two syncs of a HorizontalPodAutoscaler, for which replicas stay after the load has gone, for which a
new pod's CPU may be ignored, and within which it counts as not yet ready: the defaults of
``--horizontal-pod-autoscaler-*`` (kubernetes v1.36.3, ``pkg/controller/podautoscaler/config/v1alpha1/defaults.go``).
The tolerance of 10 % is not a time, so it keeps its default."""
SOONEST_SYNC: Final = 0.1
"""Shortest real time between two of these syncs: each costs the control plane some requests."""
_OLDEST_EMULATED: Final = 3
"""How many minors back an API server can emulate (kubernetes v1.36.3, ``component-base/compatibility``)."""

_SIMULATED_AT_ONCE: Final = {
    "podPlayStageParallelism": 16,
    "nodePlayStageParallelism": 16,
    "nodeLeaseParallelism": 8,
    "podsOnNodeSyncParallelism": 16,
}
"""How much the simulator does in parallel; usual are 4, 4, 4 and 1. A file that sets some of them must set all."""


@dataclass(frozen=True)
class Emulation:
    """Which minor the API server emulates, and what that means for the rehearsal.

    Parameters
    ----------
    minor
        Such as ``1.35``; empty: its own.
    assumption
        A sentence; empty if the control plane has the stack's version.
    """

    minor: str
    assumption: str

    @classmethod
    def of(cls, cluster: ClusterChoices, own: str) -> "Emulation":
        """Return the emulation for a cluster on a control plane of the version ``own``, such as ``1.36.3``."""
        wanted = str(getattr(cluster, "version", "") or "")
        ours = _minor(own)
        if not wanted:
            return cls("", f"The control plane runs Kubernetes {ours}; the stack names no version.")
        if _number(wanted) == _number(ours):
            return cls("", "")
        if _number(ours) - _OLDEST_EMULATED <= _number(wanted) < _number(ours):
            said = f"The control plane runs Kubernetes {ours} and offers the APIs and features of {wanted}, the stack's"
            return cls(wanted, f"{said} version; its controllers are those of {ours}.")
        return cls("", f"The control plane runs Kubernetes {ours}; the stack names {wanted}, which it cannot emulate.")


def tuning(
    pace: Pace, scaler: Mapping[str, Flag], emulated: str = "", machines: Sequence[Mapping[str, Any]] = ()
) -> Tuning:
    """Return the tuning of a rehearsal's instance, which ends with the calling process.

    Parameters
    ----------
    pace
        How scenario time passes: the server's own periods are shortened by its speed, to a second at least.
    scaler
        Flags of the autoscaler, or of Karpenter.
    emulated
        Minor that the API server emulates. Default: its own.
    machines
        Machine types of Karpenter, which then runs in place of the autoscaler. Default: none.
    """
    tolerated = f"{max(1, round(pace.real(_TOLERATION)))}"
    return Tuning(
        flags={
            # A rehearsal's data need not survive a crash of the machine.
            "etcd": {"unsafe-no-fsync": "true"},
            "kube-apiserver": {
                "default-not-ready-toleration-seconds": tolerated,
                "default-unreachable-toleration-seconds": tolerated,
            },
            "kube-controller-manager": {
                "kube-api-qps": "1000",
                "kube-api-burst": "2000",
                "node-monitor-period": "1s",
                # Only the scenario decides that a node fails: a busy machine may renew its leases late.
                "node-monitor-grace-period": "300s",
                "node-eviction-rate": f"{_NODE_EVICTIONS * pace.speed:g}",
                "secondary-node-eviction-rate": f"{_NODE_EVICTIONS_IN_TROUBLE * pace.speed:g}",
                **_scaling(pace),
            },
            # Each node's lease is renewed after a quarter of this time: at 1,000 nodes 20 a second.
            "kwok": {"node-lease-duration-seconds": "200"},
            (KARPENTER if machines else AUTOSCALER): {"kube-client-qps": "500", "kube-client-burst": "1000", **scaler},
        },
        scheduler={
            "clientConnection": {"qps": 1000, "burst": 2000},
            # The back-off of a pod that fits nowhere is 1 to 10 s of real time otherwise.
            "podInitialBackoffSeconds": 1,
            "podMaxBackoffSeconds": 1,
        },
        simulator=_SIMULATED_AT_ONCE,
        emulated=emulated,
        machines=machines,
        owner=Owner.this(),
    )


def sync_period(pace: Pace) -> float:
    """Return the real seconds between two syncs of a HorizontalPodAutoscaler."""
    return max(pace.real(_SYNC), SOONEST_SYNC)


def is_sync_late(pace: Pace) -> bool:
    """Return whether these syncs are rarer in the scenario's time than on a cluster."""
    return sync_period(pace) > pace.real(_SYNC)


def _scaling(pace: Pace) -> dict[str, str]:
    """Return the controller manager's flags about HorizontalPodAutoscalers."""
    name = "horizontal-pod-autoscaler-"
    return {
        f"{name}sync-period": pace.real_text(pace.simulated(sync_period(pace))),
        f"{name}downscale-stabilization": pace.real_text(_STABILIZATION),
        f"{name}cpu-initialization-period": pace.real_text(_CPU_INITIALIZATION),
        f"{name}initial-readiness-delay": pace.real_text(_INITIAL_READINESS),
    }


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _number(version: str) -> int:
    return int(version.split(".")[1])
