"""Edits of the sample's inputs, and what the engine must say about each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Props = dict[str, Any]


@dataclass(frozen=True)
class Edit:
    apply: Callable[[str, str, Props], None]
    verdict: str = "same"


EDITS: dict[str, Edit] = {"none": Edit(lambda *_: None)}
