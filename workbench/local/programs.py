"""The programs of a control plane, and a fingerprint of their builds."""

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

AUTOSCALER = "cluster-autoscaler"

KARPENTER = "karpenter"
"""Runs in place of the autoscaler if the tuning names machine types."""

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
"""Every instance has them; in start order."""

PROGRAMS = (*CONTROL_PLANE, AUTOSCALER)
"""Those of the usual instance, in start order."""


class Binaries(Protocol):
    """Locates programs, as ``workbench.toolchain.Toolchain`` does."""

    def path(self, name: str) -> Path:
        """Return the path of the program ``name``."""
        ...


def locate(binaries: Binaries, programs: Iterable[str] = PROGRAMS) -> dict[str, str]:
    """Return the path of each of a control plane's programs."""
    return {name: str(binaries.path(name).resolve()) for name in programs}


def fingerprint(programs: dict[str, str]) -> str:
    """Return a text that changes when a program is replaced or rebuilt in place."""
    stats = {name: Path(path).stat() for name, path in programs.items()}
    return " ".join(f"{programs[name]}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats.items())


def versions(programs: dict[str, str]) -> dict[str, str]:
    """Return the versions that the programs print; autoscalers write theirs to their logs only."""
    printed = {name: _version(path) for name, path in programs.items() if name not in {AUTOSCALER, KARPENTER}}
    return {name: version for name, version in printed.items() if version}


def _version(path: str) -> str:
    result = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=30)
    words = result.stdout.replace("etcd Version:", "etcd").split()
    return next((word.removeprefix("v") for word in words if word.removeprefix("v")[:1].isdigit()), "")
