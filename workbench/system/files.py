"""Files of one owner, written in one step."""

import os
from pathlib import Path


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file of mode 0600 in one step: readers see the old content or the new one, never a half."""
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    temporary.replace(path)
