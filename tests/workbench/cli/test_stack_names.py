import subprocess
from pathlib import Path

import pytest

from support.cluster import COMMAND, user_environment
from workbench import stacks
from workbench.cli import stack
from workbench.stacks import FOLDER_VARIABLE, stack_ownership
from workbench.system.paths import PROJECT_ROOT


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make two repositories with a stack of the same name; the first has used it."""
    tmp_path = tmp_path_factory.mktemp("repositories")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Pulumi.mine.yaml").write_text((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
        patch.setenv(FOLDER_VARIABLE, str(tmp_path / "first"))
        stack_ownership.claim(stacks.find("mine"))
    return tmp_path


def igz_clusters(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**user_environment(), "IGZ_CLUSTERS_DATA": str(folder / "data")}
    return subprocess.run(
        [COMMAND, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", ["up", "preview", "destroy", "env"])
def test_no_command_touches_the_cluster_of_another_repository(repositories: Path, command: str) -> None:
    refused = igz_clusters(repositories, "-C", "second", command, "mine")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"belong to {repositories}/first/Pulumi.mine.yaml" in refused.stderr
    assert not (repositories / "data" / "local").exists()


def test_printed_commands_name_the_chosen_folder_unless_it_is_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my stacks").mkdir()
    monkeypatch.chdir(tmp_path)
    plain = stack._own_command()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "my stacks"))
    assert stack._own_command() == f"{plain} -C 'my stacks'"
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert stack._own_command() == plain


def test_a_terminal_obeys_nothing_that_an_error_quotes(tmp_path: Path) -> None:
    refused = igz_clusters(tmp_path, "up", "\x1b]0;owned\x07")
    assert "\\x1b]0;owned\\x07" in refused.stderr
    assert "\x1b" not in refused.stderr
