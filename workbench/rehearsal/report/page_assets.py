"""Files that a page contains, and their hashes for its Content-Security-Policy."""

import base64
import hashlib
from functools import cache
from importlib.resources import files


@cache
def asset(name: str) -> str:
    """Return the text of a file of ``assets``."""
    return (files("workbench.rehearsal.report") / "assets" / name).read_text(encoding="utf-8")


def style() -> str:
    """Return the style of a page, on a screen and in print."""
    return asset("page.css") + asset("print.css")


def digest(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows a style or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
