"""YAML in text, as in ConfigMaps."""

from functools import lru_cache
from typing import Any

import yaml

from policies.values import NotJudgeableError, Value


def parsed(text: Value) -> Value:
    """Parse the YAML in ``text``; empty without text.

    Raises
    ------
    NotJudgeableError
        If the text is unknown or not YAML.
    """
    return Value(_load(text.text() or "", text.path), text.path)


@lru_cache(maxsize=16)  # every rule reads the same text
def _load(text: str, path: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise NotJudgeableError(path, "is not YAML") from None
