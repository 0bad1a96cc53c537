"""State files and locks as the engine's file backend writes them."""

import base64
import hashlib
import json
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.engine.backend import EngineLock, StateFiles
from workbench.system.paths import APP


def checkpoint(*urns: str, **more: Any) -> bytes:
    latest = {"resources": [{"urn": urn} for urn in urns], **more}
    return json.dumps({"version": 3, "checkpoint": {"stack": "local", "latest": latest}}).encode()


def write(file: Path, content: bytes, *, checksum_of: bytes | None = None) -> Path:
    """Write a file as the engine does: with its checksum next to it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    digest = hashlib.md5(checksum_of or content, usedforsecurity=False).digest()
    file.with_name(f"{file.name}.attrs").write_text(json.dumps({"md5": base64.b64encode(digest).decode()}))
    return file


def engine_lock(files: StateFiles, content: str) -> EngineLock:
    folder = files.current.parents[2] / "locks" / "organization" / APP / "local"
    folder.mkdir(parents=True)
    (folder / "1.json").write_text(content)
    (folder / "1.json.attrs").write_text("{}")
    return files.locks()[0]


def said(pid: int, host: str = "") -> str:
    now = datetime.now(UTC).isoformat()
    return json.dumps({"pid": pid, "hostname": host or socket.gethostname(), "username": "me", "timestamp": now})
