"""Which files a change touches, by Git."""

import os
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.system.errors import UserError

_LINK: Final = "120000"
"""Mode of a symbolic link in Git's index."""


@dataclass(frozen=True, order=True)
class ChangedFile:
    """A file that differs.

    Parameters
    ----------
    path
        In the repository, or below the folder of the stack files if that is not the repository's root.
    is_gone
        Whether the change deletes it.
    was
        Its path before, if the change moves it.
    """

    path: str
    is_gone: bool = False
    was: str = ""


@dataclass(frozen=True)
class Comparison:
    """What a change differs in from the branch that it goes to.

    Parameters
    ----------
    base, head
        Whole commits.
    files
        By path.
    notes
        What a reader should know about the comparison, a sentence each.
    """

    base: str
    head: str
    files: tuple[ChangedFile, ...]
    notes: tuple[str, ...] = ()


def compare(base: Path, head: Path) -> Comparison:
    """Compare two checkouts from the commit on where their histories part.

    What is not committed in ``head`` counts too, since the review is of its files as they lie there. The checkouts may
    be clones of their own; nothing is written into either.

    Raises
    ------
    UserError
        One of them is no checkout, or their histories have nothing in common that is there.
    """
    before, after = (_commit(folder) for folder in (base, head))
    # Each sees the other's commits, wherever they came from.
    both = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(_objects(base))}
    origin = _git(head, "merge-base", before, after, **both)
    if not origin:
        raise UserError(
            f"The histories of {base} ({before[:12]}) and {head} ({after[:12]}) have no common commit.",
            "Get both with their whole history: `fetch-depth: 0` in a workflow, `git fetch --unshallow` elsewhere.",
        )
    # A change may tell Git to keep quiet about a submodule.
    options = ("--name-status", "-z", "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
    listed = _git(head, "diff", *options, origin, "--", **both)
    if listed is None:
        raise UserError(f"Git cannot compare {head} with its commit {origin[:12]}.", "Is its history whole?")
    untracked = (_git(head, "ls-files", "--others", "--exclude-standard", "--full-name", "-z") or "").split("\0")
    root = _git(head, "rev-parse", "--show-prefix") or ""
    files = {*_changes(listed, root), *(ChangedFile(_below(root, path)) for path in untracked if path)}
    files |= set(_links(head.resolve(), {file.path for file in files}))
    return Comparison(before, after, tuple(sorted(files)), tuple(_notes(head, origin, before)))


def _links(head: Path, changed: Collection[str]) -> Iterator[ChangedFile]:
    """Return the links to what differs: whoever reads through them reads something else."""
    for entry in (_git(head, "ls-files", "--stage", "-z") or "").split("\0"):
        facts, _, path = entry.partition("\t")
        if not facts.startswith(_LINK) or path in changed:
            continue
        target = (head / path).resolve()
        if target.is_relative_to(head):
            place = target.relative_to(head).as_posix()
            if any(f"{each}/".startswith(f"{place}/") for each in changed):
                yield ChangedFile(path)


def _notes(head: Path, origin: str, base: str) -> list[str]:
    notes = []
    if origin != base:
        notes.append(
            f"{head} lacks commits of {base[:12]}, so the plans show the opposite of what those changed. "
            "Merge or rebase it; pull-request workflows check out the merged commit."
        )
    if _git(head, "status", "--porcelain"):
        notes.append(f"{head} has changes that are not committed; they are reviewed too.")
    return notes


def _changes(listed: str, root: str) -> list[ChangedFile]:
    words, found = iter(listed.split("\0")), []
    for status in words:
        if not status:
            continue
        path = _below(root, next(words))
        if status[0] in "RC":
            new = _below(root, next(words))
            found.append(ChangedFile(new, was=path if status[0] == "R" else ""))
        else:
            found.append(ChangedFile(path, is_gone=status[0] == "D"))
    return found


def _below(root: str, path: str) -> str:
    return path.removeprefix(root) if path.startswith(root) else f"/{path}"


def _commit(folder: Path) -> str:
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}.", "Name the checkout of the change with --head.")
    if not (commit := _git(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")):
        raise UserError(f"{folder} is no Git checkout with a commit.", "A review compares two checkouts.")
    return commit


def _objects(folder: Path) -> Path:
    return folder / (_git(folder, "rev-parse", "--git-path", "objects") or "")


def _git(folder: Path, *arguments: str, **variables: str) -> str | None:
    """Return what Git prints; None if it refuses."""
    # A monitor of files would be a program of the checkout's own choice.
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", **variables}
    try:
        run = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        raise UserError("Git is not installed.", "Install `git` and try again.") from None
    return None if run.returncode else run.stdout.strip()
