"""Patches of existing objects break the rules by what they give, and by nothing that they leave out."""

from dataclasses import replace

import pytest

from policies.examples import Example, Given, load
from policies.patches import kind_of
from policies.registry import RULES
from policies.rule import WholeStack
from support.policies import Wire

OF_THE_STACK = {rule.id for rule in RULES if isinstance(rule.applies_to, WholeStack)}
EXAMPLES = [
    example
    for example in load()
    if not example.is_stack and all(given.type.startswith("kubernetes:") for given in example.resources)
    if example.rule not in OF_THE_STACK and not example.resources[0].type.endswith("Patch")
]
MISSING = {
    *("HC-01", "HK-05", "HK-07", "HK-11", "HK-12", "JU-03", "PL-01"),
    *("PR-04", "PR-07", "RS-01", "RS-03", "RS-15", "ST-04"),
}
"""Rules that bad examples break by what they leave out, or by being created at all."""


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_POLICY_UNKNOWN", "note")


def outcome(example: Example, given: Given) -> dict[str, list[str]]:
    wire = Wire(stack=example.stack_config)
    return wire.judge(given.type, given.props, given.name, **given.opts).outcome


def patch(example: Example) -> dict[str, list[str]]:
    [given] = example.resources
    return outcome(example, replace(given, type=f"{given.type}Patch"))


def of_kind(kind: str) -> pytest.MarkDecorator:
    chosen = [example for example in EXAMPLES if example.kind == kind]
    return pytest.mark.parametrize("example", chosen, ids=lambda example: f"{example.rule}/{example.name}")


@of_kind("good")
def test_a_patch_of_a_good_object_breaks_nothing(example: Example) -> None:
    assert patch(example) == {"expect": [], "advise": [], "unjudged": []}


@of_kind("bad")
def test_a_patch_breaks_the_rules_that_its_values_break(example: Example) -> None:
    [given] = example.resources
    before, after = outcome(example, given), patch(example)
    for level in ("expect", "advise"):
        assert set(after[level]) <= set(before[level])
        assert set(before[level]) - set(after[level]) <= MISSING


def test_a_patch_names_the_type_of_its_object() -> None:
    assert kind_of("kubernetes:apps/v1:DeploymentPatch") == "kubernetes:apps/v1:Deployment"
    assert not kind_of("kubernetes:apps/v1:Deployment")
    assert not kind_of("aws:ssm/patchBaseline:PatchBaselinePatch")
