"""The programs of a control plane, and how to tell one build of them from another."""

import subprocess
from pathlib import Path
from typing import Protocol

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "cluster-autoscaler")
"""In the order in which they start."""


class Binaries(Protocol):
    """Whoever knows where programs are, such as ``workbench.toolchain.Toolchain``."""

    def path(self, name: str) -> Path:
        """Return the path of the program ``name``."""
        ...


def locate(binaries: Binaries) -> dict[str, str]:
    """Return the path of every program of a control plane."""
    return {name: str(binaries.path(name).resolve()) for name in PROGRAMS}


def fingerprint(programs: dict[str, str]) -> str:
    """Return a text that changes when a program is another one, or was built again in place."""
    stats = {name: Path(path).stat() for name, path in programs.items()}
    return " ".join(f"{programs[name]}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats.items())


def versions(programs: dict[str, str]) -> dict[str, str]:
    """Return the versions that the programs tell; the autoscaler's is only in its log."""
    told = {name: _version(path) for name, path in programs.items() if name != "cluster-autoscaler"}
    return {name: version for name, version in told.items() if version}


def _version(path: str) -> str:
    result = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=30)
    words = result.stdout.replace("etcd Version:", "etcd").split()
    return next((word.removeprefix("v") for word in words if word.removeprefix("v")[:1].isdigit()), "")
