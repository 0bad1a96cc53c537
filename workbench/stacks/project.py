"""The engine's project file next to the stack files: whose program creates their clusters."""

from pathlib import Path
from typing import Final

from infra.config import Problem
from workbench.stacks import folder, shown_path
from workbench.stacks.file_problems import content_of
from workbench.system.errors import UserError
from workbench.system.paths import APP

PROJECT_FILE: Final = "Pulumi.yaml"


def project_file() -> Path:
    """Return where the project file is, or would be."""
    return folder() / PROJECT_FILE


def project() -> str | None:
    """Return the name in the project file; None if there is no file, or no name that could be read."""
    place = project_file()
    source = content_of(place) if place.exists() else None
    document = None if source is None or isinstance(source, Problem) else source.document
    name = document.get("name") if isinstance(document, dict) else None
    return name if isinstance(name, str) else None


def require_ours() -> None:
    """Check that no program of the user creates the clusters of these stack files, such as one with the component.

    Its stacks are in another state: `up` would create a second cluster.

    Raises
    ------
    UserError
        The project file is of another project.
    """
    if (name := project()) not in (None, APP):
        place = shown_path(project_file())
        raise UserError(
            f"{place} is of project {name!r}. If its program creates these clusters, {APP} would create second ones.",
            "Then use `pulumi` itself. Otherwise move the stack files to a folder without it.",
        )
