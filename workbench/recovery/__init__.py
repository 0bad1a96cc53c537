"""Finds what killed runs left behind, before every change of a stack; ``igz-clusters recover`` repairs it.

This package needs no engine, control plane or network: it reads processes and files, and repairs files. ``cloud`` adds
the recovery of stacks in a cloud and is imported for those only.
"""

from workbench.recovery.finding import Finding
from workbench.recovery.leftovers import leftovers
from workbench.recovery.orphans import orphans
from workbench.recovery.state import state_findings

__all__ = ["Finding", "leftovers", "orphans", "state_findings"]
