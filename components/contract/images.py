"""Image registries in a stack file, and their mirrors."""

import re
from typing import Annotated

from pydantic import AfterValidator


def _mirror(registry: str) -> str:
    if not re.fullmatch(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._/-]*[a-z0-9])?", registry):
        raise ValueError("give HOST or HOST/PATH, without https://")
    return registry


Mirror = Annotated[str, AfterValidator(_mirror)]
"""A registry that replaces another."""
