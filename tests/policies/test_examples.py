import pytest

from policies.registry import RULES
from support.policy_examples import FOLDER, Example, examples

EXAMPLES = examples()


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_POLICY_UNKNOWN", "note")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.rule}/{e.name}")
def test_the_whole_pack_says_exactly_what_the_example_expects(example: Example) -> None:
    assert example.judge().outcome == example.expectation


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.rule}/{e.name}")
def test_an_example_is_about_its_rule(example: Example) -> None:
    rule_id, said = example.rule.upper(), example.expectation
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
@pytest.mark.parametrize("kind", ["good", "bad", "unknown", "absent"])
def test_every_rule_has_every_kind_of_example(rule: object, kind: str) -> None:
    assert any(e.rule == rule.anchor and e.kind == kind for e in EXAMPLES)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_some_unknown_example_of_every_rule_leaves_it_unjudged(rule: object) -> None:
    assert any(rule.id in e.expectation["unjudged"] for e in EXAMPLES if e.rule == rule.anchor and e.kind == "unknown")


def test_no_folder_of_examples_is_without_rule() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {rule.anchor for rule in RULES}
