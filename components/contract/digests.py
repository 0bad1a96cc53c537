"""Digests of JSON values."""

import hashlib
import json
from typing import Any


def canonical(value: Any) -> bytes:
    """Return a JSON value in canonical form: keys sorted, no spaces, ASCII. Floats must be finite."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a JSON value in canonical form, as lower-case hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()
