"""A release of the working tree."""

import pytest

from tools.release import checks
from tools.release.checks import Release
from workbench.system.git import git
from workbench.system.paths import PROJECT_ROOT


@pytest.fixture(scope="session")
def release() -> Release:
    """Return a release of the working tree, also of what is not committed yet."""
    edited = git(PROJECT_ROOT, "stash", "create")
    now = checks.current()
    return Release(now.version, edited or now.commit, now.time)
