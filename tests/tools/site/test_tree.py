"""The site has every page, and each link of the repository has a place on it."""

import re

import pytest

from components.contract.clusters import DESCRIPTORS
from policies.registry import RULES
from tools.site.__main__ import SOURCE
from tools.site.tree import Page, Site
from workbench.system.paths import PROJECT_ROOT

SITE = Site()
SETTINGS = (SOURCE / "mkdocs.yml").read_text()
LISTED = re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", SETTINGS.partition("\nnav:\n")[2], re.MULTILINE)


def test_every_page_is_in_the_navigation_once() -> None:
    pages = {place for name, place in SITE.places.items() if "#" not in name and not name.startswith("policies/")}
    pages |= {f"reference/{each.kind}.md" for each in DESCRIPTORS}
    pages.add("commands.md")
    listed_by_page = {place for place in pages if place.startswith("decisions/0")}
    assert sorted(LISTED) == sorted(pages - listed_by_page)


def test_every_decision_is_in_the_list_of_decisions() -> None:
    text = (PROJECT_ROOT / "docs/decisions/README.md").read_text()
    files = {file.name for file in (PROJECT_ROOT / "docs/decisions").glob("0*.md")}
    assert files == set(re.findall(r"\((0\d{3}-[\w-]+\.md)\)", text))


def test_every_rule_has_a_page_and_every_kind_its_keys_and_stack_files() -> None:
    assert {f"docs/policies.md#{rule.anchor}" for rule in RULES} <= SITE.places.keys()
    assert {f"docs/configuration.md#kind-{each.kind}" for each in DESCRIPTORS} <= SITE.places.keys()
    assert all(SITE.stack_files[each.kind] for each in DESCRIPTORS)


LINKS = {
    "eks.md#choices": "../eks.md#choices",
    "decisions/README.md": "../decisions/index.md",
    "../README.md#your-own-repository": "../source/README.md#your-own-repository",
    "../CHANGELOG.md": "../changelog.md",
    "policies.md#ng-07": "../rules/ng-07.md",
    "policies.md#ng-07-the-initial-group-must-have-a-fixed-size": "../rules/ng-07.md",
    "policies.md#waivers": "../policies.md#waivers",
    "configuration.md#kind-eks": "../reference/eks.md",
    "configuration.md#names": "../configuration.md#names",
    "../policies/rules/node_groups/examples/ng-07.yaml": "../rules/ng-07.md#examples",
    "../Pulumi.dev.yaml": "../examples/eks.md",
    "../examples/aks-dev/Pulumi.aks-dev.yaml": "../examples/aks.md",
    "../policies/cel.py": "../source/policies/cel.py.md",
    "../policies/rules": "../source/policies/rules.md",
    "rehearsal.schema.json": "../rehearsal.schema.json",
    "../examples/gitlab/.gitlab-ci.yml": "../source/examples/gitlab/gitlab-ci.yml.md",
    "pictures/pools.svg": "../pictures/pools.svg",
    "#choices": "../gpus.md#choices",
    "https://example.com/a#b": "https://example.com/a#b",
}


@pytest.mark.parametrize("target", LINKS)
def test_a_link_leads_to_the_place_on_the_site(target: str) -> None:
    page = Page("start/page.md", "docs/gpus.md", "")
    assert Site().link(page, target) == LINKS[target]


def test_a_link_to_a_file_shows_it_once_on_a_page_that_search_leaves_out() -> None:
    site = Site()
    page = Page("page.md", "docs/page.md", "[a](../policies/cel.py) [b](../policies/cel.py)")
    assert site._staged(page)[1].count("(source/policies/cel.py.md)") == 2
    place, text = site._staged_file("policies/cel.py")
    assert place == "source/policies/cel.py.md"
    assert "exclude: true" in str(text)
    assert "```python\n" in str(text)


def test_a_diagram_is_a_table_of_its_arrows() -> None:
    site = Site()
    [imports] = [page for page in site.documents() if page.path == "imports.md"]
    assert "mermaid" not in imports.text
    assert re.search(r"^\| `infra` \| .*`components\.contract`", imports.text, re.MULTILINE)


def test_texts_of_arrows_are_in_the_table() -> None:
    pages = {page.path: page.text for page in Site().documents()}
    for row in (
        "| canary (up acme-dev) | bake 30m | verify acme-dev |",
        "| verify acme-dev |  | early (up eu-staging, up us-staging) |",
        "| early (up eu-staging, up us-staging) | a failure: stop | correct it |",
        "| correct it | resume | early (up eu-staging, up us-staging) |",
    ):
        assert row in pages["fleet.md"]
    assert "| the operator's agent | pulumi up | igz-clusters up: rules, guard, health checks |" in pages["operator.md"]
