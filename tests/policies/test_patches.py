"""Patches of existing objects break the rules by what they give, and by nothing that they leave out."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from policies.examples import Example, Given, load
from policies.patches import kind_of
from policies.registry import RULES
from policies.rule import WholeStack
from support.policies import Wire
from support.sampled import sampled

OF_THE_STACK = {rule.id for rule in RULES if isinstance(rule.applies_to, WholeStack)}
EXAMPLES = [
    example
    for example in load()
    if not example.is_stack and all(given.type.startswith("kubernetes:") for given in example.resources)
    if example.rule not in OF_THE_STACK and not example.resources[0].type.endswith("Patch")
]
EXCUSED = {
    "HK-05": "bad bad-function bad-silent",
    "HK-07": "bad bad-dev bad-release",
    "HK-11": "bad bad-dev",
    "HK-12": "bad",
    "HW-01": (
        "bad bad-dev bad-ingress bad-ingress-behind-a-public-load-balancer bad-ingress-in-clear bad-service "
        "bad-service-that-contradicts-itself bad-service-that-does-not-say bad-without-tls"
    ),
    "JU-03": "bad",
    "JU-04": "bad bad-hub",
    "PL-01": "bad-daemon-set bad-negation bad-older bad-preferred",
    "PL-05": "bad-corrected-other-gpu",
    "PL-06": "bad bad-dev bad-null bad-other-gpu bad-own-name",
    "PR-04": "bad-deployment bad-nuclio",
    "RS-01": "bad bad-dev bad-start",
    "RS-03": "bad bad-sidecar bad-whole-pod bad-zero",
    "RS-05": "bad bad-by-a-hair bad-nothing",
    "RS-07": "bad",
    "RS-13": "bad-one-bound",
    "RS-14": "bad-default",
    "RS-15": "bad bad-deployment",
    "SP-01": (
        "bad bad-aks bad-block bad-broker bad-constrain bad-deployment bad-dev bad-plan bad-pytorch bad-ray bad-set "
        "bad-tolerates-all"
    ),
    "SP-02": "bad bad-manual",
    "SP-07": "bad bad-affinity bad-older",
    "SP-08": "bad",
    "ST-01": "bad-dev",
    "ST-04": "bad-cron",
}
"""Bad examples of each rule that are so by what they leave out, or that another value could excuse."""

GOOD = {f"{example.rule}/{example.name}": example for example in load() if example.kind == "good"}
SAMPLE = ("HK-05/good", "NG-02/good-local", "PL-06/good", "RS-03/good", "RS-13/good", "ST-01/good")
KEPT = re.compile(r"(.*metadata\.)?(name|namespace)|.*\[\d+\]\.name|.*\.igz-clusters\.io/core-service")
"""Values that say what is patched, and for whom."""


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
    assert all(set(after[level]) <= set(before[level]) for level in ("expect", "advise"))
    is_found = example.rule in after["expect"] + after["advise"]
    assert is_found is (example.name not in EXCUSED.get(example.rule, "").split())


@pytest.mark.parametrize("name", sampled(GOOD, SAMPLE))
def test_a_patch_of_one_value_of_a_good_object_breaks_nothing(name: str) -> None:
    wire = Wire(stack=GOOD[name].stack_config)
    for given in GOOD[name].resources:
        for one in pieces(given.props) if given.type.startswith("kubernetes:") else ():
            token = f"{given.type.removesuffix('Patch')}Patch"
            report = wire.judge(token, one, given.name, **given.opts)
            assert not report.violated + report.advised, (one, report.messages)


def pieces(value: Any, path: str = "") -> Iterator[Any]:
    """Return copies with one value each, beside those that are kept; of lists only those of containers are merged."""
    if isinstance(value, dict):
        for key, item in value.items():
            place = f"{path}.{key}" if path else key
            others = {name: kept(other, f"{path}.{name}" if path else name) for name, other in value.items()}
            for piece in pieces(item, place):
                yield {name: other for name, other in {**others, key: piece}.items() if other is not None}
    elif isinstance(value, list) and path.endswith("ontainers"):
        for index, item in enumerate(value):
            others_of_list = [kept(other, f"{path}[{place}]") for place, other in enumerate(value)]
            for piece in pieces(item, f"{path}[{index}]"):
                yield [*others_of_list[:index], piece, *others_of_list[index + 1 :]]
    elif not KEPT.fullmatch(path):
        yield value


def kept(value: Any, path: str) -> Any:
    if isinstance(value, dict):
        inside = {key: kept(item, f"{path}.{key}" if path else key) for key, item in value.items()}
        return {key: item for key, item in inside.items() if item is not None} or None
    if isinstance(value, list):
        inside_list = [kept(item, f"{path}[{index}]") for index, item in enumerate(value)]
        return inside_list if path.endswith("ontainers") else None
    return value if KEPT.fullmatch(path) else None


def test_a_patch_names_the_type_of_its_object() -> None:
    assert kind_of("kubernetes:apps/v1:DeploymentPatch") == "kubernetes:apps/v1:Deployment"
    assert not kind_of("kubernetes:apps/v1:Deployment")
    assert not kind_of("aws:ssm/patchBaseline:PatchBaselinePatch")
