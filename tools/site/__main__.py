"""Builds the documentation site: ``make site``, and ``make site-serve`` to read it while it changes.

``python -m tools.site [--serve]`` stages the pages in ``build/site`` and runs Zensical there, from an environment of
its own. The result is ``build/site/public``; it needs no server and no network.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Final

from tools.site.tree import Site
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.system.virtual_environments import interpreter

SOURCE: Final = PROJECT_ROOT / "docs" / "site"
TARGET: Final = PROJECT_ROOT / "build" / "site"


def stage(target: Path) -> None:
    """Write the site's configuration and pages to a folder; remove pages of earlier runs, and keep unchanged files."""
    files = dict(Site().staged()) | {f"assets/{file.name}": file.read_bytes() for file in (SOURCE / "assets").iterdir()}
    pages = target / "pages"
    for old in [file for file in pages.rglob("*") if file.is_file()]:
        if old.relative_to(pages).as_posix() not in files:
            old.unlink()
    for name, content in files.items():
        _write(pages / name, content)
    _write(target / "mkdocs.yml", (SOURCE / "mkdocs.yml").read_bytes())


def build(target: Path, action: str = "build") -> int:
    """Build the staged site, or serve it on 127.0.0.1; return the exit code, which warnings make other than 0."""
    command = [str(interpreter(SOURCE / "site-requirements.txt")), "-m", "zensical", action, "--strict"]
    return subprocess.run([*command, "--config-file", str(target / "mkdocs.yml")], cwd=target, check=False).returncode


def _write(file: Path, content: str | bytes) -> None:
    new = content.encode() if isinstance(content, str) else content
    if not file.exists() or file.read_bytes() != new:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(new)


def main() -> int | str:
    """Stage and build, or serve."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("--serve", action="store_true", help="serve it on 127.0.0.1:8000 instead")
    serve = parser.parse_args().serve
    stage(TARGET)
    try:
        return build(TARGET, "serve" if serve else "build")
    except UserError as error:
        return f"error: {error}"


if __name__ == "__main__":
    sys.exit(main())
