"""``igz-clusters`` without the policy packs, for tests that are about runs and not about rules.

Judging takes half of a run's processor time. With ``PODLESS``, an `up` of a local stack does not wait until
the API server admits user pods, up to 30 seconds: docs/decisions/0011-admission-from-the-registry.md.
"""

import os
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

PODLESS: Final = "IGZ_CLUSTERS_TEST_PODLESS"
"""Variable of tests that make no pods."""

if __name__ == "__main__":
    session.policy_packs = cloud.policy_packs = lambda *_: []
    if os.environ.get(PODLESS):
        from workbench.local import Instance

        Instance.wait_for_admission = lambda *_: True  # type: ignore[method-assign]
    import_module(sys.argv.pop(1)).main()
