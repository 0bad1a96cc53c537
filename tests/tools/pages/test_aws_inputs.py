from tools.pages.aws_inputs import PAGE, counted, marked, page
from workbench.offline.aws.facts import facts


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == page()


def test_every_type_has_a_section_that_names_what_replaces_it() -> None:
    *sections, _ = page().split("\n## ")[1:]
    assert [section.partition("\n")[0] for section in sections] == list(facts().resources)
    assert all("| Replaced by | " in section and "| No model | " in section for section in sections)


def test_the_page_counts_what_is_assumed_and_lists_it() -> None:
    every = [fact for type_ in facts().resources for fact in marked(type_)]
    sourced, assumed = counted(every)
    assert sourced + assumed == len(every)
    assert f"{sourced} facts have a source, {assumed} are assumed" in page()
    listed = page().partition("\n## Assumed facts\n")[2]
    for type_ in facts().resources:
        facets = {fact.facet for fact in marked(type_) if fact.mark == "assumed"}
        assert listed.count(f"- [ ] {type_}: ") == len(facets)
