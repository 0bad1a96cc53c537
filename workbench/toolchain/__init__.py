"""Builds the engine and the local control plane from pinned Go modules, and locates them."""

from workbench.toolchain.api import Row, Toolchain, check_prerequisites, ensure, select_pulumi, status
from workbench.toolchain.pulumi_home import environment, prepare, without_logs
from workbench.toolchain.store import prune

__all__ = [
    "Row",
    "Toolchain",
    "check_prerequisites",
    "ensure",
    "environment",
    "prepare",
    "prune",
    "select_pulumi",
    "status",
    "without_logs",
]
