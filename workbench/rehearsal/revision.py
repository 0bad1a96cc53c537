"""A stack as an earlier commit has it."""

import tempfile
from dataclasses import replace
from pathlib import Path

from infra.config.problems import shown
from workbench import stacks
from workbench.stacks import Stack
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
        There is no such commit, or the file is not in it.
    StackFileError
        The file of that commit is invalid.
    """
    folder = stack.file.parent
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
        return replace(stacks.read(file), file=stack.file)
