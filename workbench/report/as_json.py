"""A report as JSON, for scripts.

``{"format": 1, ...}`` with all fields of ``workbench.report.model.Report`` in camelCase. Enumerations are their value,
missing values are null. New fields may be added; removing or redefining one raises ``format``. ``exitCode`` is the exit
code of the command.
"""

import json
from dataclasses import asdict
from typing import Any, Final

from pydantic.alias_generators import to_camel

from workbench.report.model import Report

FORMAT: Final = 1


def render(report: Report) -> str:
    """Return the report as one JSON object, identical for identical reports."""
    shape = {"format": FORMAT, "exitCode": report.outcome.exit_code, **_camel(asdict(report))}
    # ASCII only, so that a terminal interprets nothing in it.
    return json.dumps(shape, indent=2) + "\n"


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {to_camel(key): _camel(item) for key, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list | tuple) else value
