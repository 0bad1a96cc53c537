"""The files of a checkout, as Git lists them."""

import subprocess
from pathlib import Path

from workbench.system.paths import PROJECT_ROOT


def tracked(*patterns: str, root: Path = PROJECT_ROOT, and_new: bool = False) -> list[str]:
    """Return the files that Git tracks and that exist, relative to ``root``.

    Parameters
    ----------
    patterns
        Only files that match one. Default: all.
    root
        Folder of the checkout.
    and_new
        Also those that Git neither tracks nor ignores. Default: only tracked ones.
    """
    others = ["--cached", "--others", "--exclude-standard"] if and_new else []
    command = ["git", "ls-files", "-z", *others, "--", *patterns]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (root / name).exists()]
