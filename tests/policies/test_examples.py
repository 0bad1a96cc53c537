import pytest

from policies.examples import FOLDER, KINDS, Example, load
from policies.registry import RULES
from support.policies import judge

EXAMPLES = load()


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_POLICY_UNKNOWN", "note")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.rule}/{e.name}")
def test_the_whole_pack_says_exactly_what_the_example_expects(example: Example) -> None:
    assert judge(example).outcome == example.outcome


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.rule}/{e.name}")
def test_an_example_is_about_its_rule(example: Example) -> None:
    rule_id, said = example.rule, example.outcome
    assert example.content["about"].endswith(".")
    match example.kind:
        case "good":
            assert said == {"expect": [], "advise": [], "unjudged": []}
        case "bad":
            assert rule_id in said["expect"] + said["advise"]
        case "unknown":
            assert example.content != {}
        case "absent":
            assert "<unknown>" not in str(example.content)
        case _:
            pytest.fail(f"{example.name}: a name starts with good, bad, unknown or absent")


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_has_every_kind_of_example(rule: object, kind: str) -> None:
    assert any(e.rule == rule.id and e.kind == kind for e in EXAMPLES)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_some_unknown_example_of_every_rule_leaves_it_unjudged(rule: object) -> None:
    assert any(rule.id in e.outcome["unjudged"] for e in EXAMPLES if e.rule == rule.id and e.kind == "unknown")


def test_examples_stand_beside_their_rule_and_none_is_without() -> None:
    rules = {path.relative_to(FOLDER).parent / path.stem[:5].replace("_", "-") for path in FOLDER.glob("*/*_*.py")}
    files = {path.relative_to(FOLDER).parents[1] / path.stem for path in FOLDER.glob("*/examples/*.yaml")}
    assert files == {rule for rule in rules if not rule.name.startswith("-")}
