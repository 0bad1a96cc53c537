"""Which release of this package a repository uses, and where it gets it."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from typing_extensions import override

from workbench.system.errors import UserError
from workbench.system.git import git

_SOURCE = re.compile(r"[A-Za-z0-9@:/._~+%-]+")


@dataclass(frozen=True)
class Pin:
    """One commit of this package. ``package.mk`` of a user's repository holds it."""

    source: str
    """What ``git fetch`` takes: an address or a folder."""
    tag: str
    """The release's tag; empty if the commit has none."""
    commit: str
    """The full hash: it decides which release is used, even if the tag moves."""
    notes: tuple[str, ...] = ()
    """Sentences that the user should read."""

    @override
    def __str__(self) -> str:
        """Return tag and short commit, or the full commit without a tag."""
        return f"{self.tag} ({self.commit[:12]})" if self.tag else self.commit


def pin_of(checkout: Path, source: str | None = None) -> Pin:
    """Return the pin to what ``checkout`` has checked out now.

    Parameters
    ----------
    checkout
        A Git checkout of this package.
    source
        Default: the checkout's remote ``origin`` without a password, else the checkout's own folder.

    Raises
    ------
    UserError
        It is not a Git checkout, or ``make`` or a shell would interpret characters of the source.
    """
    if git(checkout, "rev-parse", "--show-toplevel") != str(checkout):
        raise UserError(f"{checkout} is not a Git checkout: no release to pin.", "Clone this package with Git.")
    commit = git(checkout, "rev-parse", "--verify", "HEAD^{commit}")
    if not commit:
        raise UserError(f"{checkout} has no commit: there is no release to pin.", "Commit, then try again.")
    notes = []
    tags = git(checkout, "tag", "--points-at", "HEAD", "--sort=-version:refname", "--list", "v[0-9]*") or ""
    tag = tags.partition("\n")[0]
    if not tag:
        notes.append("No release tag points at this checkout's commit; the commit itself is pinned.")
    if git(checkout, "status", "--porcelain"):
        notes.append("This checkout has uncommitted changes; the pin does not include them.")
    if source is None:
        source, note = _default_source(checkout)
        notes += note
    if not _SOURCE.fullmatch(source):
        raise UserError(
            f"The source {source!r} contains a character that is not allowed.",
            "Allowed: letters, digits and @ : / . _ ~ + % -. Choose another source with --source.",
        )
    return Pin(source, tag, commit, tuple(notes))


def _default_source(checkout: Path) -> tuple[str, list[str]]:
    origin = git(checkout, "remote", "get-url", "origin")
    if not origin:
        note = f"This checkout has no remote 'origin', so the source is {checkout}, which only this machine can reach."
        return str(checkout), [f"{note} Choose another with --source."]
    if (checkout / origin).exists():
        return str((checkout / origin).resolve()), []
    address = urlsplit(origin)
    if address.scheme in {"http", "https"} and "@" in address.netloc:
        bare = address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()
        return bare, ["The address of 'origin' contains a user or password; the source is the address without it."]
    return origin, []
