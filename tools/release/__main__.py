"""``python -m tools.release``: makes a release of the checked-out commit in ``dist/vX.Y.Z``; pushes nothing.

It checks the commit and what signing needs, runs ``make check``, builds twice, and writes the bill of materials, the
pinned requirements, the notes, the hashes of all these and a signature of the hashes. Run it again at any time: it
keeps what is the same.
"""

import argparse
import filecmp
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tools.release import checks, notes, sbom, signing
from tools.release.builds import build, sha256
from tools.release.checks import Release
from tools.release.notes import SUMS
from tools.supply_chain import requirements
from workbench.system import temporary
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

DIST: Final = PROJECT_ROOT / "dist"
SIGNATURE: Final = f"{SUMS}.sig"


class _Progress:
    """Announces steps on standard error, with the seconds since the start."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self, step: str) -> None:
        print(f"{time.monotonic() - self._start:5.0f} s  {step}", file=sys.stderr, flush=True)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dry-run", action="store_true", help="check and build, print the hashes, keep nothing")
    parser.add_argument(
        "--unsigned", action="store_true", help="make no signature, for a build that is attested instead"
    )
    parser.add_argument("--key", type=Path, help="SSH key to sign with; default: Git's user.signingKey")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Make the release and return the exit code: 1 if the commit cannot be released."""
    options, say = arguments(given), _Progress()
    release = checks.current()
    say(f"checking {release.tag} at {release.commit[:12]}")
    found = list(checks.problems(release))
    if found:
        print("\n".join([f"{release.commit[:12]} cannot become {release.tag}:", *found]), file=sys.stderr)
    if found and not options.dry_run:
        return 1
    target = DIST / release.tag
    if not options.dry_run:
        if not options.unsigned:
            require_signing(target, options.key)
        say("make check")
        check()
    with temporary.folder("release-files") as (place, _):
        say("building twice")
        sums = write(release, Path(place))
        if options.dry_run:
            print(sums, end="")
            return bool(found)
        require_unchanged(release)
        keep(Path(place), target)
    if not options.unsigned:
        say("signing")
        sign(target, options.key)
    print(_next(release, target))
    return 0


def require_signing(target: Path, key: Path | None) -> None:
    """Check what signing needs, so that it does not fail after the long steps.

    Raises
    ------
    UserError
        The file of allowed signers is missing; or there is no key, and the release is not signed yet.
    """
    signing.require_signers(signing.SIGNERS)
    if not (target / SIGNATURE).exists():
        signing.key_file(key)


def require_unchanged(release: Release) -> None:
    """Check that the checkout is still at the release's commit: some files are read from it, not from the commit.

    Raises
    ------
    UserError
        It is not; names what differs.
    """
    changed = list(checks.problems(release))
    if (now := checks.current()) != release:
        changed.append(f"HEAD is {now.commit[:12]}")
    if changed:
        raise UserError("\n".join(["The checkout was changed meanwhile:", *changed]), "Run the command again.")


def check() -> None:
    """Run ``make check``.

    Raises
    ------
    subprocess.CalledProcessError
        It found something.
    """
    subprocess.run(["make", "--no-print-directory", "check"], cwd=PROJECT_ROOT, check=True, stdout=sys.stderr)


def write(release: Release, place: Path) -> str:
    """Write all files of a release but its signature into an empty folder; return the hashes, a line each."""
    build(release, place)
    shutil.copyfile(requirements.RUNTIME, place / "requirements.txt")
    (place / f"igz_clusters-{release.version}.cdx.json").write_text(sbom.document(release), encoding="utf-8")
    (place / "RELEASE.md").write_text(notes.document(release), encoding="utf-8")
    sums = "".join(f"{sha256(file)}  {file.name}\n" for file in sorted(place.iterdir()))
    (place / SUMS).write_text(sums, encoding="utf-8")
    return sums


def keep(made: Path, target: Path) -> Path:
    """Move a finished folder to its place; if the same files are there already, leave them.

    Raises
    ------
    UserError
        Other files are there.
    """
    if target.exists():
        names = [file.name for file in made.iterdir()]
        if filecmp.cmpfiles(made, target, names, shallow=False)[0] == names:
            return target
        raise UserError(f"{target} has files of another build.", "If they were not published, delete that folder.")
    target.parent.mkdir(exist_ok=True)
    draft = target.with_name(f".{target.name}")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(made, draft)
    return draft.rename(target)


def sign(target: Path, key: Path | None) -> None:
    """Sign the hashes of a release unless they are signed."""
    sums, signature = target / SUMS, target / SIGNATURE
    if signature.exists():
        signing.verify(sums, signature, signing.SIGNERS)
    else:
        signing.sign(sums, key, signing.SIGNERS)


def _next(release: Release, target: Path) -> str:
    return f"""\
{release.tag} is in {target}. Nothing was tagged or pushed. Next:

  git tag --sign --message "igz-clusters {release.version}" {release.tag} {release.commit}
  git push origin {release.tag}

Then run the workflow `release` on the tag, and publish the files with RELEASE.md as text: docs/releasing.md."""


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"error: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: `{' '.join(map(str, error.cmd))}` failed with exit code {error.returncode}")
