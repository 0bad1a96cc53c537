"""The programs of a control plane, and a fingerprint of their builds."""

import subprocess
from pathlib import Path
from typing import Protocol

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "cluster-autoscaler")
"""In start order."""


class Binaries(Protocol):
    """Locates programs, as ``workbench.toolchain.Toolchain`` does."""

    def path(self, name: str) -> Path:
        """Return the path of the program ``name``."""
        ...


def locate(binaries: Binaries) -> dict[str, str]:
    """Return the path of every program of a control plane."""
    return {name: str(binaries.path(name).resolve()) for name in PROGRAMS}


def fingerprint(programs: dict[str, str]) -> str:
    """Return a text that changes when a program is replaced or rebuilt in place."""
    stats = {name: Path(path).stat() for name, path in programs.items()}
    return " ".join(f"{programs[name]}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats.items())


def versions(programs: dict[str, str]) -> dict[str, str]:
    """Return the versions that the programs print; the autoscaler writes its version to its log only."""
    printed = {name: _version(path) for name, path in programs.items() if name != "cluster-autoscaler"}
    return {name: version for name, version in printed.items() if version}


def _version(path: str) -> str:
    result = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=30)
    words = result.stdout.replace("etcd Version:", "etcd").split()
    return next((word.removeprefix("v") for word in words if word.removeprefix("v")[:1].isdigit()), "")
