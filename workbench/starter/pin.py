"""Which release of this package a repository uses, and where it gets it."""

import re
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path
from urllib.parse import urlsplit

from typing_extensions import override

from workbench.system.errors import UserError
from workbench.system.git import git
from workbench.system.installation import recorded_origin

_SOURCE = re.compile(r"[A-Za-z0-9@:/._~+%-]+")


@dataclass(frozen=True)
class Pin:
    """One commit of this package. ``package.mk`` of a user's repository holds it."""

    source: str
    """Source for ``git fetch``: an address or a folder."""
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
    return Pin(_allowed(source), tag, commit, tuple(notes))


def pin_of_wheel(installed: Distribution, source: str | None = None) -> Pin:
    """Return the pin to the release that a wheel was built from.

    Parameters
    ----------
    installed
        The installed package. If its wheel was built from a Git address, pip and uv recorded address and commit.
    source
        Default: the recorded address without a password. Otherwise the tag of the version is looked up there.

    Raises
    ------
    UserError
        There is neither a recorded address nor a source, or the source does not have the tag.
    """
    recorded = recorded_origin(installed)
    origin = recorded.get("vcs_info", {})
    if origin.get("vcs") == "git":
        revision = str(origin.get("requested_revision", ""))
        tag = revision if re.fullmatch(r"v\d[\w.]*", revision) else ""
        address, notes = _without_password(recorded["url"])
        return Pin(_allowed(source or address), tag, origin["commit_id"], () if source else tuple(notes))
    if source is None:
        raise UserError(
            "This igz-clusters was installed from a wheel, which does not name a repository to pin.",
            "Name it: `igz-clusters init DIR --source URL`.",
        )
    tag = f"v{installed.version}"
    names = (f"refs/tags/{tag}", f"refs/tags/{tag}^{{}}")  # the second one is the commit of an annotated tag
    listed = git(Path.cwd(), "ls-remote", "--", _allowed(source), *names)
    if not listed:
        raise UserError(
            f"The tag {tag} of this igz-clusters was not found at {source}.",
            "Check the address, and that `git ls-remote` with it works.",
        )
    return Pin(source, tag, listed.splitlines()[-1].split()[0])


def _allowed(source: str) -> str:
    if not _SOURCE.fullmatch(source):
        raise UserError(
            f"The source {source!r} contains a character that is not allowed.",
            "Allowed: letters, digits and @ : / . _ ~ + % -. Choose another source with --source.",
        )
    return source


def _default_source(checkout: Path) -> tuple[str, list[str]]:
    origin = git(checkout, "remote", "get-url", "origin")
    if not origin:
        note = f"This checkout has no remote 'origin', so the source is {checkout}, which only this machine can reach."
        return str(checkout), [f"{note} Choose another with --source."]
    if (checkout / origin).exists():
        return str((checkout / origin).resolve()), []
    return _without_password(origin)


def _without_password(origin: str) -> tuple[str, list[str]]:
    address = urlsplit(origin)
    if address.scheme in {"http", "https"} and "@" in address.netloc:
        bare = address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()
        return bare, ["The address of 'origin' contains a user or password; the source is the address without it."]
    return origin, []
