from tools.pages.aws_inputs import PAGE, page
from workbench.offline.aws.facts import facts


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == page()


def test_every_type_has_a_section_that_names_what_replaces_it() -> None:
    sections = page().split("\n## ")[1:]
    assert [section.partition("\n")[0] for section in sections] == list(facts().resources)
    assert all("| Replaced by | " in section and "| No model | " in section for section in sections)
