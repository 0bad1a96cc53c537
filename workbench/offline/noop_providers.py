"""No-op plug-ins that accept every operation: they build a baseline state without a cloud or cluster.

``python -m workbench.offline.noop_providers aws`` serves one to the engine. Nothing is created: ids and outputs are
made up, and identical for identical names, so that equal programs give equal states.
"""

import sys

from workbench.offline.plugin import serve
from workbench.offline.providers import noop

if __name__ == "__main__":
    provider = noop(sys.argv[1])
    if provider is None:
        sys.exit(f"no provider for the package {sys.argv[1]}")
    serve(provider)
