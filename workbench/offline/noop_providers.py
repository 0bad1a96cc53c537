"""Plug-ins that say they made what they were told to make: a state to plan changes onto, with no cloud and no cluster.

``python -m workbench.offline.noop_providers aws`` serves one to the engine. Nothing is ever made: ids
and outputs are invented, the same for the same name, so that equal programs give equal states.
"""

import sys

from workbench.offline.plugin import serve
from workbench.offline.providers import pretending

if __name__ == "__main__":
    found = pretending(sys.argv[1])
    if found is None:
        sys.exit(f"no provider for the package {sys.argv[1]}")
    serve(found)
