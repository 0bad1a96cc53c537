"""A stack as an earlier commit has it."""

import tempfile
from dataclasses import replace
from pathlib import Path

from infra.config.problems import shown
from workbench import stacks
from workbench.stacks import Stack, StackFileError
from workbench.system.errors import UserError
from workbench.system.git import git


def commit_of(folder: Path, revision: str) -> str:
    """Return the hash of a commit.

    Parameters
    ----------
    folder
        A folder of the repository.
    revision
        What Git takes for a commit, such as ``main`` or ``HEAD~1``.

    Raises
    ------
    UserError
        There is no such commit.
    """
    known = ", ".join(stacks.stack_files())
    if git(folder, "rev-parse", "--git-dir") is None:
        raise UserError(
            f"--compare: {shown(revision)} is not a stack, and {folder} is not in a Git repository.",
            f"Name one of the stacks {known}.",
        )
    commit = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not commit:
        raise UserError(
            f"--compare: {shown(revision)} is neither a stack nor a commit of the repository of {folder}.",
            f"Stacks: {known}. A commit is a branch, a tag or a hash, such as main or HEAD~1.",
        )
    return commit


def stack_at(file: Path, revision: str) -> Stack:
    """Return the stack that a stack file described in a commit.

    Raises
    ------
    UserError
        There is no such commit, the file is not in it, or it is invalid there.
    """
    commit = commit_of(file.parent, revision)
    text = git(file.parent, "show", f"{commit}:./{file.name}")
    if text is None:
        raise UserError(
            f"--compare: commit {commit[:12]} has no file {file.name}.",
            "Name a commit that has it, or another stack.",
        )
    with tempfile.TemporaryDirectory(prefix="igz-clusters-revision-") as place:
        copy = Path(place) / file.name
        copy.write_text(f"{text}\n", encoding="utf-8")
        try:
            return replace(stacks.read(copy), file=file)
        except StackFileError as error:  # name the file that the user knows, not the copy
            raise UserError(
                f"--compare: the stack file of commit {commit[:12]} is invalid:\n"
                f"{StackFileError(file, error.problems)}",
                "Name another commit.",
            ) from None
