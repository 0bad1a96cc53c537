"""Private files, written atomically."""

import os
from pathlib import Path


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file of mode 0600 atomically: readers see the old or the new content, never a partial one."""
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    temporary.replace(path)
