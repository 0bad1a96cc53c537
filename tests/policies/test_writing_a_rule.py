import re
from pathlib import Path
from types import ModuleType

import pytest

from policies.examples import KINDS, load_file
from policies.pack_harness import judge
from policies.registry import RULES

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-rule.md"
LINES_MAX = 19


def block(language: str) -> str:
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return found


def test_the_rule_on_the_page_is_as_short_as_promised() -> None:
    assert len(block("python").splitlines()) <= LINES_MAX


@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_on_the_page_says_what_its_examples_expect(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_POLICY_UNKNOWN", "note")
    module = ModuleType("rule_of_the_page")
    exec(compile(block("python"), PAGE, "exec"), vars(module))  # noqa: S102 the page is ours
    file = tmp_path / f"{module.RULE.anchor}.yaml"
    file.write_text(block("yaml"), encoding="utf-8")
    [example] = [example for example in load_file(file) if example.kind == kind]
    assert judge(example, rules=(*RULES, module.RULE)).outcome == example.outcome


def test_the_id_on_the_page_is_nobodys() -> None:
    [rule_id] = re.findall(r'\bid="([A-Z]{2}-\d\d)"', block("python"))
    assert rule_id not in {rule.id for rule in RULES}
