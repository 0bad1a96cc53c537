from pathlib import Path

import pytest

from workbench import stacks
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

SHIPPED = (PROJECT_ROOT / "Pulumi.local.yaml").read_text()


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(stacks.FOLDER_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("other", [None, "config:\n  aws:region: eu-west-1\n", "\0: ["])
def test_a_folder_without_stack_files_of_ours_means_the_checkout(tmp_path: Path, other: str | None) -> None:
    if other:
        (tmp_path / "Pulumi.local.yaml").write_text(other)
    assert stacks.find("local").file == PROJECT_ROOT / "Pulumi.local.yaml"


def test_neither_a_folder_nor_a_link_to_nowhere_is_a_stack_file_of_ours(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.folder.yaml").mkdir()
    (tmp_path / "Pulumi.link.yaml").symlink_to(tmp_path / "nowhere")
    assert stacks.folder() == PROJECT_ROOT


def test_a_file_that_cannot_be_read_is_reported_instead_of_judging_the_checkout(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    file.symlink_to(file)  # a circle, which not even the superuser can read
    assert stacks.stack_files() == {"dev": file}
    with pytest.raises(UserError, match=r"Pulumi\.dev\.yaml: the file cannot be read: "):
        stacks.find("dev")


def test_stack_files_in_the_current_folder_are_meant_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.mine.yaml").write_text(SHIPPED)
    assert stacks.stack_files() == {"mine": tmp_path / "Pulumi.mine.yaml"}
    assert stacks.find("mine").config.cluster.kind == "local"
    with pytest.raises(UserError, match=f"Stack 'local' not found in {tmp_path}") as caught:
        stacks.find("local")
    assert caught.value.hint == "Known stacks: mine."


@pytest.mark.parametrize("example", ["typescript", "yaml"])
def test_the_folder_of_a_program_in_another_language_has_its_own_local_stack(
    example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = PROJECT_ROOT / "examples" / example
    monkeypatch.chdir(place)
    found = stacks.find("local")
    assert (found.file, found.is_local) == (place / "Pulumi.local.yaml", True)


def test_a_chosen_folder_wins_over_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    (tmp_path / "Pulumi.here.yaml").write_text(SHIPPED)
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, "chosen")
    with pytest.raises(UserError, match=r"Known stacks: none \(no Pulumi\.STACK\.yaml there sets igz-clusters:stack"):
        stacks.find("local")
    (chosen / "Pulumi.there.yaml").write_text(SHIPPED)
    assert list(stacks.stack_files()) == ["there"]


def test_a_chosen_folder_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, "nowhere")
    with pytest.raises(UserError, match="--directory, IGZ_CLUSTERS_STACKS: folder nowhere does not exist"):
        stacks.find("local")


def test_a_chosen_folder_that_cannot_be_read_is_not_one_without_stacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr("os.access", lambda *_: False)  # the superuser can read all folders
    with pytest.raises(UserError, match=f"folder {tmp_path} cannot be read"):
        stacks.stack_files()


def test_a_mistake_names_the_file_as_seen_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.mine.yaml").write_text(SHIPPED.replace("kind: local", "kind: moon"))
    with pytest.raises(UserError, match=r"^1 problem in Pulumi\.mine\.yaml\n"):
        stacks.find("mine")
