"""A stack as it was in an earlier commit."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from infra.config.problems import shown
from workbench import stacks
from workbench.stacks import Stack, StackFileError
from workbench.system.errors import UserError
from workbench.system.git import git

COMPARE: Final = "--compare"
"""The option that most often names a commit."""


def commit_of(folder: Path, revision: str, asked: str = COMPARE) -> str:
    """Return the hash of a commit.

    Parameters
    ----------
    folder
        A folder of the repository.
    revision
        What Git accepts as a commit, such as ``main`` or ``HEAD~1``.
    asked
        The option that named it, for messages. Default: the option ``--compare``.

    Raises
    ------
    UserError
        There is no such commit.
    """
    known = ", ".join(stacks.stack_files())
    if git(folder, "rev-parse", "--git-dir") is None:
        raise UserError(
            f"{asked}: {shown(revision)} is not a stack, and {folder} is not in a Git repository.",
            f"Name one of the stacks {known}.",
        )
    commit = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not commit:
        raise UserError(
            f"{asked}: {shown(revision)} is neither a stack nor a commit of the repository of {folder}.",
            f"Stacks: {known}. A commit is a branch, a tag or a hash, such as main or HEAD~1.",
        )
    return commit


def stack_at(file: Path, revision: str, asked: str = COMPARE) -> Stack:
    """Return the stack that a stack file and its base described in a commit.

    Raises
    ------
    UserError
        There is no such commit, the file is not in it, or it is invalid there.
    """
    commit = commit_of(file.parent, revision, asked)
    text = git(file.parent, "show", f"{commit}:./{file.name}")
    if text is None:
        raise UserError(
            f"{asked}: commit {commit[:12]} has no file {file.name}.",
            "Name a commit that has it, or another stack.",
        )
    with tempfile.TemporaryDirectory(prefix="igz-clusters-revision-") as place:
        copy = Path(place) / file.name
        copy.write_text(f"{text}\n", encoding="utf-8")
        base = stacks.base_of(copy)
        if base and (content := git(file.parent, "show", f"{commit}:./{base.name}")) is not None:
            base.write_text(f"{content}\n", encoding="utf-8")

        def known(copied: str) -> str:
            """Return the file that the user knows, not the copy."""
            return stacks.shown_path(file.with_name(Path(copied).name))

        try:
            found = stacks.read(copy)
            origins = {path: replace(each, file=known(each.file)) for path, each in found.origins.items()}
            return replace(found, file=file, base=base and file.with_name(base.name), origins=origins)
        except StackFileError as error:
            problems = [replace(each, file=known(each.file)) if each.file else each for each in error.problems]
            raise UserError(
                f"{asked}: the stack file of commit {commit[:12]} is invalid:\n{StackFileError(file, problems)}",
                "Name another commit.",
            ) from None
