"""A report as JSON, for scripts.

``{"format": 1, ...}`` with the fields of ``workbench.report.model.Report`` in camelCase, all of them always there. What
is one of several words in the model is that word, what has no value is null. Fields may come; one that goes or changes
its meaning raises ``format``. ``exitCode`` is what the command returns.
"""

import json
from dataclasses import asdict
from typing import Any, Final

from pydantic.alias_generators import to_camel

from workbench.report.model import Report

FORMAT: Final = 1


def render(report: Report) -> str:
    """Return the report as one JSON object, equal for equal reports."""
    shape = {"format": FORMAT, "exitCode": report.outcome.exit_code, **_camel(asdict(report))}
    # In ASCII: a terminal might obey what a text holds.
    return json.dumps(shape, indent=2) + "\n"


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {to_camel(key): _camel(item) for key, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list | tuple) else value
