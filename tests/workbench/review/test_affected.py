"""Which stacks a change can affect."""

from typing import Any

import pytest

from workbench.review.affected import affected, gone
from workbench.review.comparison import ChangedFile

STACKS = {"dev": "Base.acme.yaml", "prod": "Base.acme.yaml", "trial": None}
ALL = set(STACKS)
OVERRIDES = "policies/overrides.yaml"


def row(stack: str, **more: Any) -> dict[str, Any]:
    return {"rule": "NG-07", "stack": stack, "resource": "stack", **more}


@pytest.mark.parametrize(
    ("path", "stacks"),
    [
        ("Pulumi.dev.yaml", {"dev"}),
        ("Base.acme.yaml", {"dev", "prod"}),
        ("Base.other.yaml", set()),
        ("elsewhere/Base.acme.yaml", ALL),
        ("examples/trial/Pulumi.trial.yaml", {"trial"}),
        ("examples/trial/notes.txt", {"trial"}),
        ("examples/gitlab/.gitlab-ci.yml", set()),
        ("docs/eks.md", set()),
        ("docs/pictures/a.png", set()),
        ("tests/engine/test_render.py", set()),
        ("README.md", set()),
        ("prices.json", set()),
        ("fleet.yaml", set()),
        ("elsewhere/fleet.yaml", ALL),
        ("policies/README.md", set()),
        ("components/clusters/eks/control_plane.py", ALL),
        ("policies/rules/tags/ht_01_resources_carry_the_agreed_tags.py", ALL),
        ("package.mk", ALL),
        ("Pulumi.yaml", ALL),
        ("elsewhere/Pulumi.dev.yaml", ALL),
        ("/outside/file", ALL),
    ],
)
def test_a_file_affects_the_stacks_that_read_it(path: str, stacks: set[str]) -> None:
    assert affected([ChangedFile(path)], STACKS, {}, {}) == stacks


@pytest.mark.parametrize(
    ("base", "head", "stacks"),
    [
        ({}, {"waivers": [row("dev")]}, {"dev"}),
        ({"waivers": [row("dev"), row("prod")]}, {"waivers": [row("prod")]}, {"dev"}),
        ({"waivers": [row("prod", ticket="A")]}, {"waivers": [row("prod", ticket="B")]}, {"prod"}),
        (
            {"waivers": [row("dev")]},
            {"waivers": [row("dev")], "approvals": [row("prod", operation="delete")]},
            {"prod"},
        ),
        ({}, {"remediate": ["HN-06"]}, ALL),
        ({}, {"waivers": [row("unheard-of")]}, ALL),
        ({}, None, ALL),
        ({}, "text", ALL),
    ],
)
def test_a_row_affects_the_stack_that_it_names(base: Any, head: Any, stacks: set[str]) -> None:
    assert affected([ChangedFile(OVERRIDES)], STACKS, base, head) == stacks


def test_what_moves_affects_both_ends() -> None:
    assert affected([ChangedFile("docs/Pulumi.dev.yaml", was="Pulumi.dev.yaml")], STACKS, {}, {}) == {"dev"}


def test_stack_files_that_go_are_named() -> None:
    files = [
        ChangedFile("Pulumi.dev.yaml", is_gone=True),
        ChangedFile("Pulumi.two.yaml", was="Pulumi.one.yaml"),
        ChangedFile("examples/trial/Pulumi.trial.yaml", is_gone=True),
        ChangedFile("examples/trial/Pulumi.other.yaml", is_gone=True),
        ChangedFile("Pulumi.yaml", is_gone=True),
        ChangedFile("Pulumi.prod.yaml"),
    ]
    assert [name for _, name in gone(files)] == ["dev", "one", "trial"]


def test_a_base_that_moves_affects_the_stacks_that_refine_it_under_either_name() -> None:
    assert affected([ChangedFile("docs/Base.acme.yaml", was="Base.acme.yaml")], STACKS, {}, {}) == {"dev", "prod"}
