import re
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from components.contract.environments import ClusterKind, Environment
from infra.config import StackConfig, parse
from support.cluster import user_environment
from workbench import stacks
from workbench.starter import SHAPES, Pin, create, stack_names
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

PIN = Pin("https://example.invalid/r.git", "v0.1.0", "0123456789" * 4)
COMPLETE = {
    ".git",
    ".github",
    ".gitignore",
    "Makefile",
    "Pulumi.acme-dev.yaml",
    "Pulumi.acme-prod.yaml",
    "README.md",
    "package.mk",
}


def entries(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    create(tmp_path / "acme", "acme", ClusterKind.LOCAL, PIN)
    return tmp_path / "acme"


def test_every_kind_of_cluster_that_somebody_may_begin_with_has_its_shapes() -> None:
    union = StackConfig.model_fields["cluster"].annotation
    kinds = {get_args(model.model_fields["kind"].annotation)[0] for model in get_args(union) or (union,)}
    assert kinds == set(SHAPES)


@pytest.mark.parametrize("kind", SHAPES)
def test_a_new_repository_has_valid_stack_files_of_its_kind_for_both_environments(
    kind: ClusterKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(tmp_path / "acme", "acme", kind, PIN)
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path / "acme"))
    found = {name: stacks.find(name).config for name in stacks.stack_files()}
    assert {name: config.environment for name, config in found.items()} == {
        "acme-dev": Environment.DEV,
        "acme-prod": Environment.PROD,
    }
    assert {config.cluster.kind for config in found.values()} == {kind}


def choices(text: str) -> StackConfig:
    return parse(yaml.safe_load(text)["config"][stacks.CONFIG_KEY])


def test_stack_files_make_the_same_choices_as_the_shipped_ones(repository: Path) -> None:
    for environment, shape in SHAPES[ClusterKind.LOCAL].items():
        own = (repository / f"Pulumi.acme-{environment}.yaml").read_text()
        shipped = (PROJECT_ROOT / shape).read_text()
        assert choices(own) == choices(shipped)
        assert own.splitlines()[:2] == [
            "# yaml-language-server: $schema=.igz-clusters/infra/stack.schema.json",
            f"# Make it with `make up STACK=acme-{environment}`.",
        ]
        assert "igz-clusters up" not in own


def test_it_is_complete_and_a_git_repository_with_nothing_committed(repository: Path) -> None:
    assert entries(repository) == COMPLETE
    log = subprocess.run(["git", "-C", repository, "log"], capture_output=True, text=True, check=False)
    assert "does not have any commits yet" in log.stderr
    assert entries(repository.parent) == {"acme"}


def test_no_word_is_left_to_fill_in(repository: Path) -> None:
    files = [file for file in repository.rglob("*") if file.is_file() and ".git" not in file.parts]
    assert {file.name for file in files} >= {"Makefile", "render.yml"}
    assert [file for file in files if re.search(r"@[a-z]+@", file.read_text())] == []


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-C", folder, *arguments]
    return subprocess.run(command, env=user_environment(), capture_output=True, text=True, check=False)


def test_make_reads_the_pin_and_the_stacks_and_lists_its_targets(repository: Path) -> None:
    show = "--eval=show: ; @echo '$(STACK) | $(STACKS) | $(PACKAGE_SOURCE) $(PACKAGE_TAG) $(PACKAGE_COMMIT)'"
    shown = make(repository, "--no-print-directory", show, "show").stdout.strip()
    assert shown == f"acme-dev | acme-dev acme-prod | {PIN.source} {PIN.tag} {PIN.commit}"
    listed = set(re.findall(r"^  make (\S+)", make(repository).stdout, re.MULTILINE))
    ours = {"ci", "review", "report", "drift", "tools", "lint-workflows"}
    assert listed == {"help", "up", "preview", "status", "env", "fleet", "down", "check", "upgrade"} | ours


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    create(tmp_path / "acme", "acme", ClusterKind.LOCAL, PIN)
    assert entries(tmp_path / "acme") == COMPLETE


@pytest.mark.parametrize("occupy", [lambda folder: (folder.mkdir(), (folder / ".hidden").touch()), Path.touch])
def test_a_folder_in_use_is_left_as_it_is(tmp_path: Path, occupy: Any) -> None:
    occupy(tmp_path / "acme")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="is not empty; nothing was written"):
        create(tmp_path / "acme", "acme", ClusterKind.LOCAL, PIN)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_failure_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHAPES[ClusterKind.LOCAL], Environment.PROD, "examples/missing.yaml")
    with pytest.raises(UserError, match="Cannot write"):
        create(tmp_path / "acme", "acme", ClusterKind.LOCAL, PIN)
    assert entries(tmp_path) == set()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"Cannot write .*/file/acme: "):
        create(tmp_path / "file" / "acme", "acme", ClusterKind.LOCAL, PIN)


def test_the_checkout_of_the_package_is_no_place_for_it() -> None:
    with pytest.raises(UserError, match="inside the checkout of this package"):
        create(PROJECT_ROOT / "mine", "mine", ClusterKind.LOCAL, PIN)
    assert not (PROJECT_ROOT / "mine").exists()


@pytest.mark.parametrize("name", ["", "-a", "Acme", "a_b", "a.b", "x" * 59])
def test_a_name_that_cannot_begin_a_clusters_name_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="cannot be the first part of cluster names"):
        stack_names(name)


def test_the_longest_name_gives_names_of_clusters() -> None:
    assert len(stack_names("x" * 58)[Environment.PROD]) == 63


def test_its_workflows_are_those_of_this_checkout_but_the_packages_own_checks(repository: Path) -> None:
    def contents(folder: Path) -> dict[Path, bytes]:
        return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    ours, theirs = contents(PROJECT_ROOT / ".github"), contents(repository / ".github")
    assert ours.keys() - theirs.keys() == {
        Path("workflows/checks.yml"), Path("workflows/release.yml"), Path("development.mk"),
    }  # fmt: skip
    assert theirs.items() <= ours.items()
