"""Determines with Git which files a change touches."""

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from infra.config.problems import printable
from workbench.system.errors import UserError
from workbench.system.git import git
from workbench.system.installation import PACKAGES

_LINK: Final = "120000"
"""Mode of a symbolic link in Git's index."""

_COMPILED: Final = re.compile(r"(.*/)?(__pycache__(/.*)?|[^/]+\.(py[cod]|so))", re.DOTALL)
_HOPS_MAX: Final = 40
"""Maximum number of links in a path, as on Linux."""
_LISTED_MAX: Final = 10
_LOADED_AT_START: Final = ("sitecustomize", "usercustomize")
"""Modules that every interpreter loads if they exist."""


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
    """The differences between a change and its base branch.

    Parameters
    ----------
    base, head
        Full commit ids.
    files
        Changed files by path.
    notes
        Notes on the comparison, one sentence each.
    """

    base: str
    head: str
    files: tuple[ChangedFile, ...]
    notes: tuple[str, ...] = ()


def compare(base: Path, head: Path) -> Comparison:
    """Compare ``head`` with its merge base with ``base``.

    Uncommitted files in ``head`` count too, since the review covers its working tree. The checkouts may be separate
    clones; nothing is written into either.

    Raises
    ------
    UserError
        One of them is not a checkout, or they have no common commit.
    """
    before, after = (_commit(folder) for folder in (base, head))
    # Makes the commits of both clones visible.
    both = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(_objects(base))}
    origin = git(head, "merge-base", before, after, **both)
    if not origin:
        raise UserError(
            f"The histories of {base} ({before[:12]}) and {head} ({after[:12]}) have no common commit.",
            "Fetch the full history of both: `fetch-depth: 0` in a workflow, `git fetch --unshallow` elsewhere.",
        )
    # Overrides submodule settings of the change that would hide differences.
    options = ("--name-status", "-z", "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
    listed = git(head, "diff", *options, origin, "--", **both)
    if listed is None:
        raise UserError(
            f"Git cannot compare {head} with its commit {origin[:12]}.", "Check that its full history is fetched."
        )
    untracked = (git(head, "ls-files", "--others", "--exclude-standard", "--full-name", "-z") or "").split("\0")
    root = git(head, "rev-parse", "--show-prefix") or ""
    files = {*_changes(listed, root), *(ChangedFile(_below(root, path)) for path in untracked if path)}
    files |= set(_links(head.resolve(), {file.path for file in files}))
    return Comparison(before, after, tuple(sorted(files)), tuple(_notes(head, origin, before)))


def refuse_hidden_code(base: Path, head: Path) -> None:
    """Refuse a change that adds or alters files that Python loads in place of the source that is reviewed.

    Other new modules are for the owners to review: nothing loads them unless a reviewed file names them. Such files
    are accepted if the base branch has them unchanged: its owners remove them in a separate change.

    Raises
    ------
    UserError
        It adds or alters bytecode, compiled modules, a package next to a module of the same name, or adds in its root a
        module named like one of Python or of an installed package; names the files.
    """
    before = _listed(base)
    # Python looks in the working folder first.
    taken = {*sys.stdlib_module_names, *metadata.packages_distributions(), *PACKAGES, *_LOADED_AT_START}
    taken -= {_top(path) for path in before}
    known = set(_hidden(before, taken))
    hidden = [path for path in _hidden(_listed(head), taken) if path not in known or not _is_same(base, head, path)]
    if hidden:
        listed = ", ".join(printable(path) for path in hidden[:_LISTED_MAX])
        more = f" and {len(hidden) - _LISTED_MAX} more" if len(hidden) > _LISTED_MAX else ""
        raise UserError(
            f"The change contains files that Python loads in place of reviewed source: {listed}{more}.",
            "Remove them with `git rm --cached`; source code belongs in .py files, no package next to a module of its "
            "name, no module in the root named like one of Python or of an installed package.",
        )


def _hidden(paths: Sequence[str], taken: Collection[str]) -> list[str]:
    """Return the files that Python loads in place of others; ``taken`` are names of modules elsewhere."""
    modules = {path.removesuffix(".py") for path in paths if path.endswith(".py")}
    # A link or a submodule is listed by its own name, a package by its `__init__`.
    packages = {path: path.rpartition("/__init__.")[0] or path for path in paths}
    return sorted(
        {p for p in paths if _COMPILED.fullmatch(p) or packages[p] in modules or (_is_module(p) and _top(p) in taken)}
    )


def _is_same(base: Path, head: Path, path: str) -> bool:
    """Return whether a file or a link is the same in both checkouts; never of a submodule."""
    before, after = base / path, head / path
    if before.is_symlink() or after.is_symlink():
        return before.is_symlink() and after.is_symlink() and before.readlink() == after.readlink()
    return before.is_file() and after.is_file() and before.read_bytes() == after.read_bytes()


def _listed(folder: Path) -> list[str]:
    return (git(folder, "ls-files", "--cached", "--others", "--exclude-standard", "-z") or "").split("\0")


def _top(path: str) -> str:
    """Return the name of the module in the root that a file is or belongs to."""
    return path.partition("/")[0].partition(".")[0]


def _is_module(path: str) -> bool:
    """Return whether a file is a module in the root, the start of a package there, or a link or submodule."""
    name, _, rest = path.partition("/")
    return rest == "__init__.py" if rest else name.endswith(".py") or "." not in name


def _links(head: Path, changed: Collection[str]) -> Iterator[ChangedFile]:
    """Return the symbolic links whose targets changed, or a link on the way to them."""
    for entry in (git(head, "ls-files", "--stage", "-z") or "").split("\0"):
        facts, _, path = entry.partition("\t")
        if not facts.startswith(_LINK) or path in changed:
            continue
        steps = {f"{step}/" for step in _steps(head, Path(path))}
        if any(f"{each}/".startswith(step) for each in changed for step in steps):
            yield ChangedFile(path)


def _steps(head: Path, link: Path) -> Iterator[str]:
    """Yield the links that a link leads through, and its target, as far as they are in the checkout."""
    place, left, hops = Path(), [*reversed(link.parts)], 0
    while left:
        part = left.pop()
        if part == ".." and place == Path():
            return
        place = place.parent if part == ".." else place / part
        if not (head / place).is_symlink():
            continue
        yield place.as_posix()
        target, hops = (head / place).readlink(), hops + 1
        if hops > _HOPS_MAX or (target.is_absolute() and not target.is_relative_to(head)):
            return
        place = Path() if target.is_absolute() else place.parent
        left += reversed(target.relative_to(head).parts if target.is_absolute() else target.parts)
    yield place.as_posix()


def _notes(head: Path, origin: str, base: str) -> list[str]:
    notes = []
    if origin != base:
        notes.append(
            f"{head} lacks commits of {base[:12]}, so the plans also show the reverse of those commits. "
            "Merge or rebase it; pull-request workflows check out the merged commit."
        )
    if git(head, "status", "--porcelain"):
        notes.append(f"{head} has uncommitted changes; they are reviewed too.")
    return notes


def _changes(listed: str, root: str) -> list[ChangedFile]:
    fields, files = iter(listed.split("\0")), []
    for status in fields:
        if not status:
            continue
        path = _below(root, next(fields))
        if status[0] in "RC":
            new = _below(root, next(fields))
            files.append(ChangedFile(new, was=path if status[0] == "R" else ""))
        else:
            files.append(ChangedFile(path, is_gone=status[0] == "D"))
    return files


def _below(root: str, path: str) -> str:
    return path.removeprefix(root) if path.startswith(root) else f"/{path}"


def _commit(folder: Path) -> str:
    if not folder.is_dir():
        raise UserError(f"Folder {folder} does not exist.", "Name the checkout of the change with --head.")
    if not (commit := git(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")):
        raise UserError(f"{folder} is not a Git checkout with a commit.", "A review compares two checkouts.")
    return commit


def _objects(folder: Path) -> Path:
    return folder / (git(folder, "rev-parse", "--git-path", "objects") or "")
