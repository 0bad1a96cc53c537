"""``igz-clusters`` without the policy packs, for tests that are about runs and not about rules.

Judging takes half of a run's processor time.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Final

from workbench.engine import cloud, session

PACKLESS: Final = (
    "env",
    f"PYTHONPATH={Path(__file__).parents[1]}",
    sys.executable,
    "-P",  # the folder that it is started in may be another checkout
    "-m",
    "support.packless",
)
"""Command that runs ``main`` of the module which the first argument names, with the arguments after it."""

if __name__ == "__main__":
    session.policy_packs = cloud.policy_packs = lambda *_: []
    import_module(sys.argv.pop(1)).main()
