"""Our own stacks keep every rule of both packs, and each single weakening of them breaks exactly the intended ones."""

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.program import run
from policies.examples import Given, changed, resolved_resource
from support.policies import Wire, sent
from support.recorder import record
from workbench.stacks import find, stack_files

FILES = sorted((Path(__file__).parent / "weakenings").glob("*.yaml"))
WEAKENINGS: dict[str, dict[str, Any]] = {
    f"{file.stem}/{name}": row for file in FILES for name, row in yaml.safe_load(file.read_text()).items()
}


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_POLICY_UNKNOWN", "note")


@cache
def planned(stack: str) -> tuple[Given, ...]:
    """Return what the engine would send of a stack file's resources."""
    config = find(stack).config
    return tuple(sent(record(lambda: run(config, kubeconfig="/nowhere/kubeconfig"))))


def weakened(stack: str, row: dict[str, Any]) -> Iterator[Given]:
    for given in planned(stack):
        if "at" not in row or not fnmatchcase(f"{given.type.rpartition(':')[2]}::{given.name}", row["at"]):
            yield given
        elif not row.get("drop"):
            change = changed({"props": given.props, "opts": dict(given.opts)}, row["but"])
            yield replace(given, props=change["props"], opts=change["opts"])
    if "add" in row:
        yield resolved_resource(row["add"])


@pytest.mark.parametrize("stack", stack_files())
def test_our_own_stacks_keep_every_rule_without_a_doubt(stack: str) -> None:
    document = find(stack).document["config"]["igz-clusters:stack"]
    outcome = Wire(stack=document).judge_stack(list(planned(stack))).outcome
    assert outcome == {"expect": [], "advise": [], "unjudged": []}


@pytest.mark.parametrize("name", WEAKENINGS)
def test_a_weakening_breaks_exactly_the_intended_rules(name: str) -> None:
    row = WEAKENINGS[name]
    resources = list(weakened(row["in"], row))
    assert resources != list(planned(row["in"])), "nothing was weakened"
    report = Wire(stack=find(row["in"]).document["config"]["igz-clusters:stack"]).judge_stack(resources)
    expected = {key: row.get(key, []) for key in ("expect", "advise", "unjudged")}
    assert report.outcome == expected, "\n".join(report.messages)


def test_there_are_enough_of_them() -> None:
    assert len(WEAKENINGS) >= 120
