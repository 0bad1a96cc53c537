"""Keys that the charts of systems have, by their sources: ``tests/components/contract/systems/*_keys.yaml``."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).parent.parent / "components/contract/systems"
COMMON: Final = "common"
"""Section of the keys that all known versions of a chart have."""


@cache
def sections(system: str) -> Mapping[str, list[dict[str, Any]]]:
    """Return the recorded sources of a system's keys, by version of its chart."""
    found: Mapping[str, list[dict[str, Any]]] = yaml.safe_load((FOLDER / f"{system}_keys.yaml").read_text())
    return found


def unknown(content: Mapping[str, Any], system: str, chart: str = "") -> list[str]:
    """Return the keys that a version of the system's chart does not have.

    A recorded key with ``.*`` at its end is a map with keys of the user's.
    """
    kept = sections(system)
    keys = {key for source in (*kept[COMMON], *kept.get(chart, ())) for key in source["keys"]}
    known = {key.removesuffix(".*") for key in keys}

    def below(value: Any, path: str) -> Iterator[str]:
        if path in known:
            return
        if isinstance(value, dict) and value:
            for key, each in value.items():
                yield from below(each, f"{path}.{key}" if path else key)
        else:
            yield path

    return list(below(content, ""))
