"""What killed builds and starts left: harmless, since the next build or start begins by clearing it, but not hidden."""

from functools import partial
from pathlib import Path

from workbench.recovery.finding import Finding
from workbench.system import locks
from workbench.toolchain import store


def leftovers() -> list[Finding]:
    """Return half-built programs that nobody builds any more."""
    staging = store.staging()
    # A finished build leaves the empty folder behind.
    if not staging.exists() or not any(staging.iterdir()) or locks.holders(store.home() / "lock"):
        return []
    size = store.disk_usage(staging)
    return [
        Finding(
            f"A build of the toolchain was killed and left {size / 1e6:.0f} MB in {staging}.",
            "Delete that; finished programs and Go's build cache stay, so the next build goes on from there.",
            partial(_drop, staging),
        )
    ]


def _drop(folder: Path) -> None:
    with store.locked(lambda _: None):  # a build may have begun since
        store.drop(folder)
