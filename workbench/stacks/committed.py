"""What Git says about a stack's files: whether they are as in their commit, and which commit changed them last."""

import os
from collections.abc import Iterator
from pathlib import Path

from workbench.stacks import Stack, folder, policy_overrides, shown_path
from workbench.system.git import git


def commit_of(place: Path) -> str | None:
    """Return the current commit of the repository with a folder; None if there is none."""
    return git(place, "rev-parse", "--verify", "HEAD^{commit}")


def is_shallow(place: Path) -> bool:
    """Return whether the repository with a folder has only a part of its history, as after `git clone --depth 1`."""
    return git(place, "rev-parse", "--is-shallow-repository") == "true"


def uncommitted(stack: Stack, *others: Path) -> Iterator[str]:
    """Yield a sentence for each file of a stack that differs from its commit.

    Its files are the stack file, its base, the waivers and approvals, and ``others``; a link and what it leads to both
    count, and a deleted file too.
    """
    if not commit_of(stack.file.resolve().parent):
        yield f"{shown_path(stack.file)} is in no Git commit."
        return
    for file in _files(stack, *others):
        place = _existing(file)
        # Overrides that never existed are no change outside of Git; an ignored file is in no commit.
        if commit_of(place) or os.path.lexists(file):
            yield from changes(shown_path(file), place, "--ignored", "--", str(file.relative_to(place)))


def last_commit(stack: Stack, *others: Path) -> str | None:
    """Return the last commit that changed one of the stack's files, or ``others``; None if they are in none."""
    place = stack.file.resolve().parent
    # Links may lead outside of this repository, where Git accepts no path; what they lead to has commits of its own.
    root = git(place, "rev-parse", "--show-toplevel")
    inside = [str(file) for file in _files(stack, *others) if root and file.is_relative_to(root)]
    return git(place, "log", "-1", "--format=%H", "--", *inside) or None


def changes(what: str, place: Path, *arguments: str) -> Iterator[str]:
    """Yield a sentence if paths in a folder differ from the commit, or are not in it."""
    if git(place, "status", "--porcelain", "--untracked-files=all", *arguments) != "":
        yield f"{what} has changes that are not committed."


def _files(stack: Stack, *others: Path) -> list[Path]:
    named = (*stack.files, folder() / policy_overrides.FILE, *others)
    return list(dict.fromkeys(path for each in named for path in (each, each.resolve())))


def _existing(file: Path) -> Path:
    return next(parent for parent in file.parents if parent.is_dir())
