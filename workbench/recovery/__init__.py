"""What killed runs leave behind: found before every change of a stack, repaired by ``igz-clusters recover``.

Nothing here needs the engine, the control plane or a network: it reads processes and files, and mends files. What it
takes for a stack in a cloud is in ``cloud``, which is imported for such a stack only.
"""

from workbench.recovery.finding import Finding
from workbench.recovery.leftovers import leftovers
from workbench.recovery.orphans import orphans
from workbench.recovery.state import state_findings

__all__ = ["Finding", "leftovers", "orphans", "state_findings"]
