"""Which package and which stack file a passport is about, by their commits."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path

from workbench.stacks import Stack
from workbench.stacks.committed import changes, commit_of, uncommitted
from workbench.system.errors import UserError
from workbench.system.git import git
from workbench.system.installation import DECIDES, altered, is_from_wheel, recorded_origin
from workbench.system.paths import APP, PROJECT_ROOT


@dataclass(frozen=True)
class Origin:
    """Versions of the package that creates a passport, and of the stack file that it is about.

    Parameters
    ----------
    version
        Of this package.
    package
        Commit of this package; None if it was installed from a wheel that does not record it.
    stack
        Commit of the stack file; None if it is not in Git.
    unclean
        What is not exactly as in these commits, a sentence each.
    """

    version: str
    package: str | None
    stack: str | None
    unclean: tuple[str, ...] = ()

    def required(self, *, allow_dirty: bool) -> None:
        """Check that a passport may name these commits.

        Raises
        ------
        UserError
            Something is not as in its commit, and that is not allowed.
        """
        if self.unclean and not allow_dirty:
            raise UserError(
                "\n".join(self.unclean),
                "Commit it, install the package again, or add --allow-dirty: the passport then says so.",
            )


def origin_of(stack: Stack, package: Path = PROJECT_ROOT) -> Origin:
    """Return what a passport of a stack is about.

    Parameters
    ----------
    stack
        The stack.
    package
        Folder of this package. Default: that of the running one.
    """
    commit, doubts = _commit_of(package)
    return Origin(version(APP), commit, commit_of(stack.file.resolve().parent), (*uncommitted(stack), *doubts))


def _commit_of(package: Path) -> tuple[str | None, Sequence[str]]:
    """Return the commit of this package, and why it may differ from that commit."""
    if git(package, "rev-parse", "--show-toplevel") == str(package):
        return commit_of(package), [*changes("This package", package, "--", *DECIDES)]
    if not is_from_wheel():
        return None, ["This package is in no Git commit."]
    installed = distribution(APP)
    recorded = recorded_origin(installed)
    if "dir_info" in recorded:
        return None, ["This package was installed from a folder, so its commit is not known."]
    doubts = [f"{name} of this package is not as it was installed." for name in altered(installed)]
    return recorded.get("vcs_info", {}).get("commit_id"), doubts
