"""The effective configuration: given values, defaults with their reasons, and the digest of both."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from components.contract.choices import Explained
from components.contract.digests import digest_of
from infra.config.problems import KeyPath

SETTINGS_DIGEST: Final = "settingsDigest"
"""Output of a stack: the digest of the settings with which `up` last ran."""


@dataclass(frozen=True)
class Effective:
    """One key and its value."""

    path: KeyPath
    value: Any
    """The value as plain data; None for a mapping whose keys follow as separate entries."""
    has_keys: bool
    why_default: str | None
    """Reason of the default; None if the value was given."""


def effective(value: Any, path: KeyPath = ()) -> Iterator[Effective]:
    """Yield every key of a model or mapping, each before the keys inside it."""
    for key, entry, why in _entries(value):
        has_keys = isinstance(entry, BaseModel) or (isinstance(entry, Mapping) and bool(entry))
        yield Effective((*path, key), None if has_keys else to_jsonable_python(entry), has_keys, why)
        if has_keys:
            yield from effective(entry, (*path, key))


def settings_digest(settings: BaseModel) -> str:
    """Return the SHA-256 of settings with all defaults, as `config show --json` prints them; comments do not count."""
    return digest_of(settings.model_dump(mode="json", by_alias=True))


def _entries(value: Any) -> Iterator[tuple[str, Any, str | None]]:
    if isinstance(value, Mapping):
        yield from ((key, entry, None) for key, entry in value.items())
        return
    for name, field in type(value).model_fields.items():
        is_given = name in value.model_fields_set
        why = next((note.why_default for note in field.metadata if isinstance(note, Explained)), "")
        yield str(field.alias), getattr(value, name), None if is_given else why
