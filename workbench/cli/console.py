"""Where commands print: results to standard output, everything else to standard error."""

from typing import Any, Final

from rich.console import Console

out = Console(emoji=False)
"""Results. Colours only on a terminal."""

errors = Console(stderr=True, emoji=False)
"""Progress, notes and errors, so that output can be piped."""

PLAIN: Final[dict[str, Any]] = {"soft_wrap": True, "markup": False, "highlight": False}
"""How a text is printed that may be anybody's: as it is, and not broken into lines."""
