"""Flags of the autoscaler for a rehearsal: those of the real cluster, with all times as short as the scenario's."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from components.contract.aks.autoscaling import autoscaler_profile
from components.contract.aks.config import AksConfig
from components.contract.aks.nodes import POOL_LABELS
from components.contract.autoscaler import BALANCING_LABELS, SCALING
from components.contract.eks.config import EksConfig
from components.contract.headroom import BYPASSED_FLAG, HEADROOM
from infra.config import StackConfig
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.settings import Pace

Flag: TypeAlias = str | tuple[str, ...]
"""Text of a flag; a tuple sets the flag several times."""

DEFAULTS: Final[Mapping[str, str]] = {
    "balance-similar-node-groups": "false",
    "blocking-system-pod-distruption-timeout": "1h",
    "expander": "least-waste",
    "initial-node-group-backoff-duration": "5m",
    "max-graceful-termination-sec": "600",
    "max-node-group-backoff-duration": "30m",
    "max-node-provision-time": "15m",
    "max-pod-eviction-time": "2m",
    "max-scale-down-parallelism": "10",
    "new-pod-scale-up-delay": "0s",
    "node-delete-delay-after-taint": "5s",
    "node-group-backoff-reset-timeout": "3h",
    "scale-down-delay-after-add": "10m",
    "scale-down-delay-after-failure": "3m",
    "scale-down-unneeded-time": "10m",
    "scale-down-unready-time": "20m",
    "scale-down-utilization-threshold": "0.5",
    "scan-interval": "10s",
    "skip-nodes-with-local-storage": "true",
    "skip-nodes-with-system-pods": "true",
    "unremovable-node-recheck-timeout": "5m",
}
"""Upstream's defaults of the flags that decide when nodes come and go.

kubernetes/autoscaler 1959f5f6, ``cluster-autoscaler/config/flags/flags.go`` and ``config/const.go``.
"""

_RENAMED: Final = {"max-empty-bulk-delete": "max-scale-down-parallelism"}
"""Names in AKS's profile that the autoscaler no longer has."""

_IN_SECONDS: Final = "max-graceful-termination-sec"
"""The only flag that is a whole number of seconds."""

_SCAN_MIN: Final = 0.2
"""Real seconds between two scans of the cluster: more frequent ones would fully occupy a machine with two cores."""

_LEAST: Final[Mapping[str, float]] = {
    "initial-node-group-backoff-duration": 1,
    "max-graceful-termination-sec": 1,
    "max-pod-eviction-time": 10,
    "scan-interval": _SCAN_MIN,
    "scale-down-delay-after-add": 2 * _SCAN_MIN,
    "scale-down-unneeded-time": 2 * _SCAN_MIN,
    "unremovable-node-recheck-timeout": 2 * _SCAN_MIN,
}
"""Shortest real seconds with which the autoscaler works."""

_LEAST_AFTER_START: Final = 20.0
"""Real seconds that a simulated node may be late on a busy machine; the autoscaler never gives up a node earlier."""

_AFTER_START: Final = ("max-node-provision-time", "scale-down-unready-time")

_UNITS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class AutoscalerFlags:
    """Flags of the autoscaler, and what they assume.

    Parameters
    ----------
    flags
        Text by the flag's name, without dashes; only flags that decide when nodes come and go.
    assumptions
        Sentences for the report.
    """

    flags: Mapping[str, Flag]
    assumptions: tuple[str, ...]


def autoscaler_flags(config: StackConfig, pace: Pace) -> AutoscalerFlags:
    """Return the flags of a stack's autoscaler at a pace: its own on EKS and AKS, otherwise upstream's defaults.

    Times are divided by ``pace.speed``. Where the result is too short for the autoscaler to work, the shortest that
    works is used, and a sentence says so.
    """
    flags, longer, sentences = dict[str, Flag](), list[str](), list[str]()
    for name, value in sorted({**DEFAULTS, **_of_kind(config)}.items()):
        seconds = _seconds(name, value)
        if seconds is None:
            flags[name] = value
            continue
        least = _least(name, pace) if seconds else 0.0
        real = max(pace.real(seconds), least)
        flags[name] = str(max(round(real), 1)) if name == _IN_SECONDS else f"{round(real * 1000)}ms"
        if real > pace.real(seconds):
            longer.append(f"{name} {duration_text(pace.simulated(real))} ({duration_text(seconds)})")
    if longer:
        sentences.append(
            f"At {pace.speed:g} times the speed, some times of the autoscaler are longer than on the cluster: "
            f"{', '.join(longer)}."
        )
    has_flag = any(group.headroom for group in config.groups)
    # With it the autoscaler does not wait until the oldest waiting pod is 2 s old, or 30 s if it requests a GPU. These
    # are constants of real time, so minutes of a scenario (``unschedulablePodTimeBuffer`` and ``allPodsAreNew`` in
    # ``core/static_autoscaler.go`` of the same commit). Only placeholder pods name this scheduler.
    flags[BYPASSED_FLAG] = HEADROOM if has_flag or pace.speed > 1 else ()
    if pace.speed > 1 and not has_flag:
        sentences.append(
            "The autoscaler does not wait for more pods before it adds nodes: a real one waits 2 s, 30 s for GPUs."
        )
    return AutoscalerFlags(flags, (*_about(config), *sentences))


def _of_kind(config: StackConfig) -> dict[str, Flag]:
    match config.cluster:
        case EksConfig():
            return {**SCALING, "balancing-label": BALANCING_LABELS}
        case AksConfig() as choices:
            named = {name.replace("_", "-"): text for name, text in autoscaler_profile(choices.autoscaler).items()}
            return {
                **{_RENAMED.get(name, name): text for name, text in named.items()},
                # As on AKS: AKS enforces the minimum of its pools, and Azure's provider compares groups without names:
                # cloudprovider/azure and processors/nodegroupset/azure_nodegroups.go of the same commit.
                "enforce-node-group-min-size": "true",
                "balancing-ignore-label": POOL_LABELS,
            }
        case _:
            return {"enforce-node-group-min-size": "true"}


def _about(config: StackConfig) -> Iterator[str]:
    if not isinstance(config.cluster, EksConfig | AksConfig):
        yield "The autoscaler has upstream's default settings: the stack file says nothing about them."


def _seconds(name: str, value: Flag) -> float | None:
    """Return the seconds of a flag that is a time; None for others."""
    if not isinstance(value, str):
        return None
    if name == _IN_SECONDS:
        return float(value)
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h)", value)
    return float(found[1]) * _UNITS[found[2]] if found else None


def _least(name: str, pace: Pace) -> float:
    if name in _AFTER_START:
        return pace.real(pace.node_start) + _LEAST_AFTER_START
    return _LEAST.get(name, 0.0)
