"""Deletes the folder of a local control plane whole, or names what is left of it."""

import shutil
from pathlib import Path
from typing import Final

from workbench.local.layout import Layout
from workbench.system.errors import UserError

_SHOWN: Final = 3
"""Number of files that the error names."""


def delete(files: Layout) -> None:
    """Delete the folder of an instance that is stopped and whose lock the caller holds.

    The folder gets another name first: a start finds either all of the instance or none of it.

    Raises
    ------
    UserError
        Not everything can be deleted: names what is left.
    """
    try:
        left = undeleted(files.deleted)  # of a deletion that was killed
        if not left:
            files.folder.rename(files.deleted)
            left = undeleted(files.deleted)
    except OSError as error:
        left = [f"{error.filename}: {error.strerror}"]
    if left:
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        raise UserError(
            f"'{files.name}' is stopped, but these files could not be deleted: {', '.join(left[:_SHOWN])}{more}.",
            "Delete them by hand, as the user whom they belong to.",
        )


def undeleted(folder: Path) -> list[str]:
    """Delete a folder, and return the files that are left, or the folder if it alone is."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return []
    return sorted(str(path) for path in folder.rglob("*") if not path.is_dir()) or [str(folder)]
