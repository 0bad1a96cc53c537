"""Leftovers of killed builds: harmless, since the next build clears them, but reported."""

from functools import partial
from pathlib import Path

from workbench.recovery.finding import Finding
from workbench.system import locks
from workbench.toolchain import store


def leftovers() -> list[Finding]:
    """Return unfinished builds whose process has ended."""
    staging = store.staging()
    # A finished build leaves the empty folder behind.
    if not staging.exists() or not any(staging.iterdir()) or locks.holders(store.home() / "lock"):
        return []
    size = store.disk_usage(staging)
    return [
        Finding(
            f"A build of the toolchain was killed and left {size / 1e6:.0f} MB in {staging}.",
            "Delete it; finished programs and Go's build cache are kept for the next build.",
            partial(_drop, staging),
        )
    ]


def _drop(folder: Path) -> None:
    with store.locked(lambda _: None):  # a build may have started since
        store.drop(folder)
