from policies import reference
from policies.registry import RULES


def test_the_page_in_the_repository_is_current() -> None:
    assert reference.PAGE.read_text(encoding="utf-8") == reference.render(), "run python -m policies.reference --write"


def test_every_link_of_a_message_has_its_anchor() -> None:
    page = reference.render()
    anchors = [rule.anchor for rule in RULES] + ["could-not-be-judged"]
    assert all(page.count(f'<a id="{anchor}"></a>') == 1 for anchor in anchors)
