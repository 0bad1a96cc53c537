"""What a change alters in its judge."""

from pathlib import Path
from typing import Any

import pytest

from workbench.review.comparison import ChangedFile
from workbench.review.judges import choice_changes, judge_changes, overrides
from workbench.stacks.policy_overrides import FILE

WAIVER = {
    "rule": "NG-07",
    "stack": "prod",
    "resource": "stack",
    "owner": "us",
    "ticket": "OPS-1",
    "expires": "2026-12-31",
}
APPROVAL = {**WAIVER, "operation": "replace", "resource": "a::b"}
OTHER = "a file that later runs may read or execute"
NAMED = "the waiver OPS-1 of us for NG-07 on stack in prod until 2026-12-31"


def said(files: list[ChangedFile], base: Any = None, head: Any = None) -> list[str]:
    return [change.what for change in judge_changes(files, base or {}, head or {})]


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ({}, {"waivers": [WAIVER]}, [f"adds {NAMED}"]),
        ({"waivers": [WAIVER]}, {}, [f"removes {NAMED}"]),
        (
            {"waivers": [WAIVER]},
            {"waivers": [{**WAIVER, "expires": "2027-01-31"}]},
            [f"alters {NAMED.replace('2026-12', '2027-01')}; it was {NAMED}"],
        ),
        ({}, {"approvals": [APPROVAL]}, ["adds the approval OPS-1 of us to replace a::b in prod until 2026-12-31"]),
        ({"remediate": ["HN-06"]}, {}, ["stops rule HN-06 from remediating violations"]),
        ({}, {"remediate": ["HN-06"]}, ["lets rule HN-06 remediate violations"]),
        ({"waivers": [WAIVER]}, {"waivers": [WAIVER]}, []),
        ({}, "text", ["cannot be read"]),
        ({}, {"waivers": "all", "approvals": [3], "remediate": {}}, []),
    ],
)
def test_rows_are_named_one_by_one(base: Any, head: Any, expected: list[str]) -> None:
    assert said([ChangedFile(str(FILE))], base, head) == expected


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (ChangedFile("policies/rules/node_groups/ng_07_x.py"), ["changes rule NG-07"]),
        (ChangedFile("policies/rules/node_groups/ng_07_x.py", is_gone=True), ["removes rule NG-07"]),
        (ChangedFile("docs/ng_07_x.md", was="policies/rules/node_groups/ng_07_x.py"), ["removes rule NG-07"]),
        (ChangedFile("policies/judge.py"), ["changes code shared by the rules"]),
        (ChangedFile("policies/rules/node_groups/examples/ng-07.yaml"), ["changes code shared by the rules"]),
        (ChangedFile("policies/README.md"), []),
        (ChangedFile("prices.json"), ["changes the prices that reports show"]),
        (ChangedFile("fleet.yaml"), ["changes in which waves stacks are updated"]),
        (ChangedFile("policies"), ["changes code shared by the rules"]),
        (ChangedFile("components/contract/taints.py"), ["changes the contract that rules check against"]),
        (ChangedFile("components/clusters/eks/control_plane.py"), [f"changes {OTHER}"]),
        (
            ChangedFile("workbench/offline/aws/facts.json"),
            ["changes the provider facts for plans without an account"],
        ),
        (ChangedFile(".github/CODEOWNERS", is_gone=True), ["removes who must approve changes"]),
        (ChangedFile(".github/workflows/render.yml"), ["changes what runs on a change"]),
        (ChangedFile("/.github/workflows/render.yml"), ["changes what runs on a change"]),
        (ChangedFile("/Makefile"), ["changes the commands that run on a change"]),
        (ChangedFile("GNUmakefile"), ["changes the commands that run on a change"]),
        (ChangedFile("/makefile"), ["changes the commands that run on a change"]),
        (ChangedFile("package.mk"), ["changes the release of the package and its rules"]),
        (ChangedFile(".igz-clusters/.venv/bin/python"), ["changes the release of the package and its rules"]),
        (ChangedFile("setup.py"), ["changes the packages that programs and rules use"]),
        (ChangedFile("setup.cfg"), ["changes the packages that programs and rules use"]),
        (ChangedFile("toolchain/pulumi/go.mod"), [f"changes {OTHER}"]),
        (ChangedFile("workbench/toolchain/recipes.py"), ["changes how later changes are evaluated and shown"]),
        (ChangedFile("workbench/review/posting/texts.py"), ["changes how later changes are evaluated and shown"]),
        (ChangedFile("workbench/cli/guard.py"), ["changes how later changes are evaluated and shown"]),
        (ChangedFile("tests/conftest.py"), [f"changes {OTHER}"]),
        (ChangedFile("sitecustomize.py", was="README.md"), [f"changes {OTHER}"]),
        (ChangedFile("Pulumi.yaml"), [f"changes {OTHER}"]),
        (ChangedFile("Pulumi.a/b.yaml"), [f"changes {OTHER}"]),
        (ChangedFile("/Pulumi.dev.yaml"), [f"changes {OTHER}"]),
        (ChangedFile("examples/aks-dev/values.yaml"), [f"changes {OTHER}"]),
        (ChangedFile("examples/aks-dev/Pulumi.aks-dev.yaml"), []),
        (ChangedFile("docs/eks.md"), []),
        (ChangedFile("Pulumi.dev.yaml"), []),
    ],
)
def test_files_that_judge_are_named(file: ChangedFile, expected: list[str]) -> None:
    assert said([file]) == expected


def test_a_change_of_many_files_names_the_first_and_all_that_judge() -> None:
    files = [*(ChangedFile(f"infra/{number:03}.py") for number in range(150)), ChangedFile("policies/judge.py")]
    found = said(files)
    assert len(found) == 102
    assert "changes 50 more files" in found
    assert "changes code shared by the rules" in found


def test_choices_by_which_a_stack_is_judged_are_named() -> None:
    base = {"environment": "prod", "policies": {"largestPool": 40}, "pools": {}}
    head = {"environment": "dev", "policyGuard": "off", "policies": {"largestPool": 400}, "pools": {"a": {}}}
    changes = [change.what for change in choice_changes("Pulumi.prod.yaml", "prod", base, head)]
    assert changes == [
        "changes environment of prod, which affects its rules, from 'prod' to 'dev'",
        "changes policies.largestPool of prod, which affects its rules, from 40 to 400",
        "changes policyGuard of prod, which affects its rules, from its default to 'off'",
    ]


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        (["a.io/"], ["a.io/", "b.io/"], "from ['a.io/'] to ['a.io/', 'b.io/']"),
        ([], ["x" * 1000], f"from [] to ['{'x' * 60}'... (1000 characters)]"),
        ("x" * 60 + "a", "x" * 60 + "b", f"from '{'x' * 60}'... (61 characters) to '{'x' * 60}'... (61 characters)"),
    ],
)
def test_a_choice_that_differs_only_inside_or_at_its_end_is_named(was: Any, now: Any, said: str) -> None:
    base, head = ({"policies": {"approvedRegistries": value}} for value in (was, now))
    (change,) = choice_changes("Pulumi.prod.yaml", "prod", base, head)
    assert change.what == f"changes policies.approvedRegistries of prod, which affects its rules, {said}"


def test_overrides_that_are_no_yaml_are_none(tmp_path: Path) -> None:
    assert overrides(tmp_path) == {}
    (tmp_path / "policies").mkdir()
    for text, expected in {"waivers: [}": None, "": None, "waivers: [{expires: 2026-12-31}]": "2026-12-31"}.items():
        (tmp_path / FILE).write_text(text)
        found = overrides(tmp_path)
        assert (found and found["waivers"][0]["expires"]) == expected


def test_a_base_is_judged_by_the_plans_of_its_stacks_as_a_stack_file_is() -> None:
    assert said([ChangedFile("Base.acme.yaml"), ChangedFile("examples/one/Base.acme.yaml")]) == []
    assert said([ChangedFile("elsewhere/Base.acme.yaml")]) == [f"changes {OTHER}"]
