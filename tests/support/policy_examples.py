"""The examples beside the rules, as data."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from policies import rules
from support.policies import Given, Report, Wire

FOLDER = Path(rules.__path__[0]) / "examples"


@dataclass(frozen=True)
class Example:
    """One example file."""

    rule: str
    """Anchor of the rule, the folder's name."""
    name: str
    """File name without ending: its kind, and what is special about it."""
    content: dict[str, Any]

    @property
    def kind(self) -> str:
        return self.name.partition("-")[0]

    @property
    def resources(self) -> list[Given]:
        given = self.content.get("stack", [self.content])
        return [(one["resource"], one.get("name", "example"), one["props"]) for one in given]

    @property
    def expectation(self) -> dict[str, list[str]]:
        return {key: sorted(self.content.get(key, [])) for key in ("expect", "advise", "unjudged")}

    @property
    def stack_config(self) -> dict[str, str]:
        return {
            "environment": self.content.get("environment", "prod"),
            "profile": self.content.get("profile", "mlrun-ce"),
        }

    def judge(self, resources: list[Given] | None = None) -> Report:
        """Send the example, or a damaged copy of its resources, through the whole pack."""
        wire, given = Wire(stack=self.stack_config), self.resources if resources is None else resources
        if "stack" in self.content:
            return wire.judge_stack(given)
        [(kind, name, props)] = given
        return wire.judge(kind, props, name, **self.content.get("opts", {}))


def examples() -> list[Example]:
    """Return all examples of all rules."""
    return [
        Example(path.parent.name, path.stem, yaml.safe_load(path.read_text()))
        for path in sorted(FOLDER.glob("*/*.yaml"))
    ]
