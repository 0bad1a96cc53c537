"""The Makefile of a user's repository against a package that only says what it was asked."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from components.contract.environments import ClusterKind
from support.cluster import user_environment
from workbench.starter import create, pin_of

Git = Callable[..., str]

PACKAGE_MAKEFILE = """\
.venv/.installed:
	@mkdir -p .venv/bin
	@printf '#!/bin/sh\\necho {release} "$$IGZ_CLUSTERS_STACKS" "$$@"\\n' > .venv/bin/igz-clusters
	@printf '#!/bin/sh\\necho {release} python "$$@"\\n' > .venv/bin/python
	@chmod +x .venv/bin/*
.PHONY: .venv/.installed
"""


@pytest.fixture
def release(tmp_path: Path, git: Git) -> Callable[[str], str]:
    """Release the package and return the commit."""
    (tmp_path / "package").mkdir()
    git("init", "--quiet", "package")

    def run(tag: str) -> str:
        (tmp_path / "package" / "Makefile").write_text(PACKAGE_MAKEFILE.format(release=tag))
        git("add", "Makefile", folder="package")
        git("commit", "--quiet", "--message", tag, folder="package")
        git("tag", tag, folder="package")
        return git("rev-parse", "HEAD", folder="package")

    return run


@pytest.fixture
def acme(tmp_path: Path, git: Git, release: Callable[[str], str]) -> Path:
    release("v0.1.0")
    create(tmp_path / "acme", "acme", ClusterKind.LOCAL, pin_of(tmp_path / "package"))
    git("add", "--all", folder="acme")
    git("commit", "--quiet", "--message", "Start", folder="acme")
    return tmp_path / "acme"


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=user_environment(), capture_output=True, text=True, check=False
    )


def made(folder: Path, *arguments: str) -> list[str]:
    result = make(folder, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.splitlines()


def test_the_first_command_gets_the_pinned_package_and_later_ones_do_not(acme: Path) -> None:
    first, second = made(acme, "up"), made(acme, "up", "STACK=acme-prod")
    assert first[0].startswith("Getting igz-clusters v0.1.0 ")
    assert first[1:] == ["v0.1.0 . up acme-dev"]
    assert second == ["v0.1.0 . up acme-prod"]


def test_check_checks_all_stacks_without_the_engine(acme: Path) -> None:
    assert made(acme, "check")[1:] == ["v0.1.0 . check"]


def test_down_stops_the_control_planes_of_all_stacks_of_the_repository(acme: Path) -> None:
    assert made(acme, "down")[-1] == "v0.1.0 . local stop --stacks"


def test_a_fleet_command_runs_on_all_stacks_and_asks_unless_told_not_to(acme: Path) -> None:
    made(acme, "tools")
    assert made(acme, "fleet") == ["v0.1.0 . fleet list"]
    assert made(acme, "fleet", "VERB=up", "YES=1") == ["v0.1.0 . fleet up --yes"]
    assert made(acme, "fleet", "VERB=drift", "YES=1") == ["v0.1.0 . fleet drift"]
    assert made(acme, "fleet", "VERB=drift", "WAVE=canary") == ["v0.1.0 . fleet drift --wave canary"]
    file = acme / "Makefile"
    file.write_text(f"WAVE ?= rest\n{file.read_text()}")
    assert made(acme, "fleet", "VERB=preview") == ["v0.1.0 . fleet preview --wave rest"]


def test_env_prints_exports_and_nothing_else(acme: Path) -> None:
    made(acme, "tools")
    assert made(acme, "--silent", "env", "STACK=acme-prod") == ["v0.1.0 . env acme-prod"]


def test_check_fails_if_a_stack_fails(acme: Path) -> None:
    made(acme, "up")
    (acme / ".igz-clusters/.venv/bin/igz-clusters").write_text('#!/bin/sh\ntest "$1" != check\n')
    assert make(acme, "check").returncode != 0


def test_what_the_workflows_run_reaches_the_pinned_package_in_the_repositorys_folder(acme: Path) -> None:
    made(acme, "tools")
    assert made(acme, "review", "HEAD=../head", "RECORD=../record") == [
        "v0.1.0 . review --head ../head --record ../record"
    ]
    assert made(acme, "review", "HEAD=../head", "COMPARED=1") == [
        "v0.1.0 . review --head ../head --record record --compared"
    ]
    only = made(acme, "review", "HEAD=../head", "ONLY=acme-prod")
    assert only == ["v0.1.0 . review --head ../head --record record acme-prod"]
    played = made(acme, "review", "HEAD=../head", "REHEARSAL=my rehearsal.json")
    assert played == ["v0.1.0 . review --head ../head --record record --rehearsal my rehearsal.json"]
    assert made(acme, "report", "RECORD=r", "OUTPUT=o.md") == ["v0.1.0 . report r --format markdown --output o.md"]
    assert made(acme, "comment", "RECORD=r") == ["v0.1.0 . comment r"]
    assert made(acme, "drift", "STACK=acme-prod") == ["v0.1.0 . drift acme-prod --events drift/acme-prod.jsonl"]
    assert made(acme, "drift-issue", "STACK=acme-dev acme-prod") == ["v0.1.0 . drift-issue drift acme-dev acme-prod"]
    assert made(acme, "up", "YES=1") == ["v0.1.0 . up acme-dev --yes"]
    guarded = ("YES=1", "REQUIRE_APPROVALS=1")
    assert made(acme, "up", *guarded) == ["v0.1.0 . up acme-dev --yes --require-approvals"]
    assert made(acme, "preview", *guarded) == ["v0.1.0 . preview acme-dev --require-approvals"]
    assert made(acme, "status", *guarded) == ["v0.1.0 . status acme-dev"]


@pytest.mark.parametrize("target", ["up", "preview", "drift"])
def test_what_somebody_typed_as_a_stack_is_one_word_and_never_a_command(acme: Path, target: str) -> None:
    made(acme, "tools")
    typed = "x; touch pwned; $(shell touch pwned) `touch pwned` $$(touch pwned) \"'"
    run = subprocess.run(
        ["make", target],
        cwd=acme,
        env=user_environment() | {"STACK": typed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith(f"v0.1.0 . {target} {typed}")
    assert not list(acme.rglob("pwned"))


def test_ci_judges_the_last_commit_by_the_main_branch_and_leaves_no_checkout_behind(
    acme: Path, git: Git, tmp_path: Path
) -> None:
    git("checkout", "--quiet", "-b", "change", folder="acme")
    printed = made(acme, "ci")
    assert "v0.1.0 python -m workbench.workflows ." in printed
    assert printed[-1] == f"v0.1.0 . review --head {acme} --record {acme / 'record'}"
    assert git("worktree", "list", folder="acme").count("\n") == 0


def test_an_upgrade_moves_tag_and_commit_alone_and_previews_every_stack_with_the_new_release(
    acme: Path, release: Callable[[str], str], git: Git
) -> None:
    old, commit = git("rev-parse", "HEAD", folder="package"), release("v0.2.0")
    printed = made(acme, "upgrade", "TAG=v0.2.0")
    assert "v0.2.0 . preview acme-dev" in printed
    assert "v0.2.0 . preview acme-prod" in printed
    assert not [line for line in printed if " up " in line and line.startswith("v0.2.0 . ")]
    changed = git("diff", "--unified=0", folder="acme").splitlines()
    assert [line for line in changed if line[0] in "+-" and line[:3] not in ("+++", "---")] == [
        "-PACKAGE_TAG := v0.1.0",
        f"-PACKAGE_COMMIT := {old}",
        "+PACKAGE_TAG := v0.2.0",
        f"+PACKAGE_COMMIT := {commit}",
    ]


def test_taking_the_pin_back_takes_the_package_back(acme: Path, release: Callable[[str], str], git: Git) -> None:
    release("v0.2.0")
    made(acme, "upgrade", "TAG=v0.2.0")
    git("checkout", "--quiet", "package.mk", folder="acme")
    assert made(acme, "status")[-1] == "v0.1.0 . status acme-dev"


def test_an_unknown_release_changes_nothing_and_names_those_that_there_are(acme: Path, git: Git) -> None:
    result = make(acme, "upgrade", "TAG=v9")
    assert result.returncode != 0
    assert "There is no tag 'v9' at" in result.stderr
    assert "Tags: v0.1.0" in result.stderr
    assert git("status", "--porcelain", folder="acme") == ""


def test_an_upgrade_to_nowhere_asks_which_release(acme: Path) -> None:
    result = make(acme, "upgrade")
    assert result.returncode != 0
    assert "make upgrade TAG=v1.2.3" in result.stderr


def test_a_tag_that_moved_is_refused(acme: Path, release: Callable[[str], str], git: Git) -> None:
    release("v0.1.1")
    git("tag", "--force", "v0.1.0", folder="package")
    result = make(acme, "up")
    assert result.returncode != 0
    assert "the tag v0.1.0 at the source is not the commit" in result.stderr
    assert "up acme-dev" not in result.stdout


def test_another_source_of_the_same_commit_serves(acme: Path, tmp_path: Path, git: Git) -> None:
    git("clone", "--quiet", "--bare", "package", "mirror.git")
    (tmp_path / "package").rename(tmp_path / "out-of-reach")
    assert make(acme, "up").returncode != 0
    assert made(acme, f"PACKAGE_SOURCE={tmp_path / 'mirror.git'}", "up")[-1] == "v0.1.0 . up acme-dev"


def test_a_pin_without_a_tag_is_its_commit(acme: Path, tmp_path: Path, git: Git) -> None:
    git("tag", "--delete", "v0.1.0", folder="package")
    create(tmp_path / "other", "other", ClusterKind.LOCAL, pin_of(tmp_path / "package"))
    assert made(tmp_path / "other", "up")[-1] == "v0.1.0 . up other-dev"


def test_what_make_gets_is_not_part_of_the_repository(acme: Path, git: Git) -> None:
    made(acme, "up")
    assert git("status", "--porcelain", folder="acme") == ""
