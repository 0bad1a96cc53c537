"""Bases by themselves, without the stack files that refine them."""

from pathlib import Path

from components.stack_files.base import BASE_KEY
from components.stack_files.inheritance import base_name
from infra.config import ConfigurationError
from infra.config.inheritance import inherited
from workbench.stacks import StackFileError, folder, shown_path


def base_files() -> list[Path]:
    """Return the bases in the folder of the stack files."""
    return sorted(folder().glob("Base.*.yaml"))


def require_valid(file: Path) -> None:
    """Check a base for keys and values that are wrong in every stack.

    Raises
    ------
    StackFileError
        It cannot be read or is invalid; lists all problems at once.
    """
    try:
        inherited({BASE_KEY: base_name(file.name)}, file.parent, shown_path)
    except ConfigurationError as error:
        raise StackFileError(file, error.problems) from None
