import re
from pathlib import Path
from typing import Any

import pytest

from components.contract.environments import Environment
from policies import rules
from policies.registry import RULES, rules_of
from policies.rule import EachOf, Level, Pack, Rule
from policies.sdk import policies
from workbench.system.paths import PROJECT_ROOT

PAGE = (PROJECT_ROOT / "docs" / "sources.md").read_text()
SOURCES = {row.split("|")[1].strip() for row in PAGE.splitlines() if row.startswith("| ")} - {"name"}

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)


def test_rules_are_sorted_and_ids_are_unique() -> None:
    ids = [rule.id for rule in RULES]
    assert ids == sorted(set(ids))


def test_every_file_of_a_family_is_a_rule() -> None:
    files = {path.stem for path in Path(rules.__path__[0]).glob("*/*.py")} - {"__init__"}
    assert files == {rule.name.replace("-", "_") for rule in RULES}


def test_every_rule_is_in_a_pack_that_has_a_folder() -> None:
    packs = Path(rules.__path__[0]).parent / "packs"
    assert {path.name for path in packs.iterdir()} == {*Pack, "all"}
    assert sorted(rule.id for pack in Pack for rule in rules_of(pack)) == [rule.id for rule in RULES]


@each_rule
def test_the_name_is_legal_everywhere(rule: Rule[Any]) -> None:
    assert re.fullmatch(r"[A-Z]{2}-\d\d", rule.id)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.slug)


@each_rule
def test_the_level_is_stated_for_every_environment_and_not_off_in_all(rule: Rule[Any]) -> None:
    assert set(rule.level) == set(Environment)
    assert set(rule.level.values()) != {Level.OFF}


@each_rule
def test_it_says_why_how_to_fix_it_and_who_asks_for_it(rule: Rule[Any]) -> None:
    assert rule.title
    assert not rule.title.endswith(".")
    assert rule.why.endswith(".")
    assert rule.fix.endswith(".")
    assert rule.source.partition(",")[0] in SOURCES


@each_rule
def test_a_resource_rule_names_the_types_that_it_reads(rule: Rule[Any]) -> None:
    if isinstance(rule.applies_to, EachOf):
        assert not rule.applies_to.types.fullmatch("pulumi:pulumi:Stack")


def test_policy_names_are_unique_in_each_pack() -> None:
    for pack in Pack:
        names = [policy.name for policy in policies(rules_of(pack))]
        assert len(names) == len(set(names))
