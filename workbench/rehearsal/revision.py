"""A stack as an earlier commit has it."""

import tempfile
from dataclasses import replace
from pathlib import Path

from infra.config.problems import shown
from workbench import stacks
from workbench.stacks import Stack, StackFileError
from workbench.system.errors import UserError
from workbench.system.git import git


def stack_at(stack: Stack, revision: str) -> Stack:
    """Return ``stack`` with the stack file of a commit.

    Parameters
    ----------
    revision
        What Git takes for a commit, such as ``main`` or ``HEAD~1``.

    Raises
    ------
    UserError
        There is no such commit, the file is not in it, or it is invalid there.
    """
    folder = stack.file.parent
    if git(folder, "rev-parse", "--git-dir") is None:
        raise UserError(
            f"--compare: {shown(revision)} is not a stack, and {stack.file.name} is not in a Git repository.",
            f"Name one of the stacks {', '.join(stacks.stack_files())}.",
        )
    commit = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not commit:
        known = ", ".join(stacks.stack_files())
        raise UserError(
            f"--compare: {shown(revision)} is neither a stack nor a commit of the repository of {stack.file.name}.",
            f"Stacks: {known}. A commit is a branch, a tag or a hash, such as main or HEAD~1.",
        )
    text = git(folder, "show", f"{commit}:./{stack.file.name}")
    if text is None:
        raise UserError(
            f"--compare: commit {commit[:12]} has no file {stack.file.name}.",
            "Name a commit that has it, or another stack.",
        )
    with tempfile.TemporaryDirectory(prefix="igz-clusters-revision-") as place:
        file = Path(place) / stack.file.name
        file.write_text(f"{text}\n", encoding="utf-8")
        try:
            return replace(stacks.read(file), file=stack.file)
        except StackFileError as error:  # name the file that the user knows, not the copy
            raise UserError(
                f"--compare: the stack file of commit {commit[:12]} is invalid:\n"
                f"{StackFileError(stack.file, error.problems)}",
                "Name another commit.",
            ) from None
