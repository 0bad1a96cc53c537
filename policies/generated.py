"""Generated files of the repository that are derived from the rules."""

import argparse
from pathlib import Path


def keep_current(file: Path, text: str, module: str, description: str | None) -> int | str:
    """Write or check ``file``, as the command line requests; return the argument for ``sys.exit``, a text for an error.

    Parameters
    ----------
    file
        The generated file.
    text
        Its expected content.
    module
        What the user runs, such as ``policies.reference``.
    description
        Shown by ``--help``.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true")
    action.add_argument("--check", action="store_true")
    if parser.parse_args().write:
        file.write_text(text, encoding="utf-8")
        return 0
    current = file.exists() and file.read_text(encoding="utf-8") == text
    return 0 if current else f"{file.name} is out of date: run python -m {module} --write"
