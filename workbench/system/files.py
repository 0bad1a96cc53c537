"""Private files, written atomically."""

import os
import tempfile
from pathlib import Path


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file of mode 0600 atomically: readers see the old or the new content, never a partial one.

    So they do after a power loss. Of several writers at the same time, the last one counts.
    """
    data = content.encode() if isinstance(content, str) else content
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)  # the disk may otherwise get the new name before the content
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
