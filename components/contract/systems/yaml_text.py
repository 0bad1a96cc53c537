"""Readable YAML: texts of several lines, such as files inside a ConfigMap, are blocks."""

from typing import Any

import yaml

_WIDTH = 120


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as a block."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


def yaml_text(content: Any) -> str:
    """Return the content as YAML, with its keys in the given order."""
    text: str = yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=_WIDTH)
    return text
