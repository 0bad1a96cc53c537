"""Whether a run may pass although a rule could not be judged. The command line uses it too."""

import os
from typing import Final

UNKNOWN_VARIABLE: Final = "IGZ_CLUSTERS_POLICY_UNKNOWN"
"""``note`` or ``fail``: the effect of a rule that cannot be judged. Any other value means ``fail``; without it, CI
decides."""


def unknown_fails() -> bool:
    """Return whether a rule that cannot be judged counts as violated."""
    wanted = os.environ.get(UNKNOWN_VARIABLE, "").lower()
    return wanted != "note" if wanted else os.environ.get("CI", "").lower() not in ("", "0", "false")
