"""People and pipelines of a stack, and the reviewed table of what each may do."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from components.contract.people import People

CORE: Final = "mlrun"
"""Namespace in which core services run."""

PLAIN: Final = "jobs"
"""Namespace in which none run."""

PEOPLE: Final = People.model_validate(
    {
        "itAdmins": {"groups": ["it-admin"], "users": ["it-admin@example.com"]},
        "dataScientists": {CORE: {"groups": ["data-scientist"]}, PLAIN: {"groups": ["data-scientist"]}},
        "ci": {"reads": {"groups": ["ci-reads"]}, "applies": {PLAIN: {"groups": ["ci-applies"]}}},
    }
)
"""A user in every role. Each group has the name of its part of the table."""

_TABLE: Final[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "components" / "contract" / "people.yaml").read_text()
)
_LINE: Final = re.compile(
    r"(?P<verb>\w+) (?P<resource>\w+)(\.(?P<group>[\w.-]+))?(/(?P<part>\w+))?( @(?P<where>[\w-]+))?"
)


@dataclass(frozen=True)
class Action:
    """One line of the table."""

    verb: str
    resource: str
    group: str
    part: str
    where: str
    """Namespace; empty in the whole cluster."""

    def __str__(self) -> str:
        part = f"/{self.part}" if self.part else ""
        return f"{self.verb} {self.group or 'core'} {self.resource}{part} in {self.where or 'the cluster'}"


def _actions(lines: list[str]) -> list[Action]:
    found = [_LINE.fullmatch(line) for line in lines]
    assert all(found), [line for line, match in zip(lines, found, strict=True) if not match]
    return [Action(**{key: text or "" for key, text in match.groupdict().items()}) for match in found if match]


MAY: Final = {role: _actions(part["may"]) for role, part in _TABLE.items() if "may" in part}
"""What each role may do."""

MUST_NOT: Final = {role: _actions(_TABLE[role]["must-not"] + _TABLE["every-role"]["must-not"]) for role in MAY}
"""What it must not."""
