from tools.pages.azure_inputs import PAGE, answered, others, page
from workbench.offline.azure.facts import facts


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == page()


def test_every_type_has_a_section_that_names_what_replaces_it() -> None:
    sections = page().split("\n## ")[2:-2]
    assert [section.partition("\n")[0] for section in sections] == list(facts().resources)
    assert all("| Replaced by | " in section and "| Type only | " in section for section in sections)


def test_the_page_counts_every_fact_once() -> None:
    counted = sum(
        sum(len(paths) for each, paths in answered(type_).items() if each.question != "declared") + len(others(type_))
        for type_ in facts().resources
    )
    line = next(line for line in page().splitlines() if line.startswith("| all | "))
    assert sum(int(figure) for figure in line.strip("| ").split(" | ")[1:]) == counted


def test_every_assumption_is_in_the_list_with_what_to_try() -> None:
    listed = page().partition("\n## Assumed\n")[2].partition("\n## ")[0]
    assumed = [each for type_ in facts().resources for each in answered(type_) if each.assumed]
    assert listed.count("- [ ] ") >= len(assumed) > 0
    assert all(each.assumed in listed for each in assumed)
