"""Where commands print: results to standard output, everything else to standard error."""

from rich.console import Console

out = Console(emoji=False)
"""Results. Colours only on a terminal."""

errors = Console(stderr=True, emoji=False)
"""Progress, notes and errors, so that output can be piped."""
