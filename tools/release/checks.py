"""What must hold before a commit becomes a release."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tools.release import changelog
from workbench.system.errors import UserError
from workbench.system.git import git
from workbench.system.paths import APP, PROJECT_ROOT


@dataclass(frozen=True)
class Release:
    """A commit that becomes a release."""

    version: str
    commit: str
    time: datetime
    """When the commit was made: the time of everything in the release."""

    @property
    def tag(self) -> str:
        """The name of its tag."""
        return f"v{self.version}"


def current(root: Path = PROJECT_ROOT) -> Release:
    """Return the release that the checked-out commit would become.

    Raises
    ------
    UserError
        The folder is not a Git checkout with a commit.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shown = git(root, "show", "--no-patch", "--format=%H %ct", "HEAD")
    if not shown:
        raise UserError(f"{root} is not a Git checkout with a commit.", "Release from a clone of this package.")
    commit, seconds = shown.split()
    return Release(project["version"], commit, datetime.fromtimestamp(int(seconds), UTC))


def problems(release: Release, root: Path = PROJECT_ROOT) -> Iterator[str]:
    """Yield everything that keeps a commit from being released."""
    if changed := git(root, "status", "--porcelain"):
        yield f"{len(changed.splitlines())} files are changed or not in Git: commit or remove them"
    tagged = git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/{release.tag}^{{commit}}")
    if tagged and tagged != release.commit:
        yield f"the tag {release.tag} is another commit, {tagged[:12]}: raise the version in pyproject.toml"
    if (installed := version(APP)) != release.version:
        yield f"pyproject.toml says {release.version}, but {installed} is installed: run `make .venv/.installed`"
    yield from changelog.problems((root / "CHANGELOG.md").read_text(encoding="utf-8"), release.version)
    headings = (root / "docs" / "upgrading.md").read_text(encoding="utf-8").splitlines()
    if f"## {changelog.UNRELEASED}" in headings:
        yield f"docs/upgrading.md: rename `## {changelog.UNRELEASED}` to `## {release.version}`"
    elif f"## {release.version}" not in headings:
        yield f"docs/upgrading.md: no section `## {release.version}`"
    recorded = Path("tests", "upgrade", "releases", release.tag)
    if not (root / recorded).is_dir():
        yield f"{recorded}: no recording of this release: `python -m tools.recording --write`"
