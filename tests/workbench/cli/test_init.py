import subprocess
from pathlib import Path

import pytest

from support.cluster import COMMAND, user_environment


def igz_clusters(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**user_environment(), "COLUMNS": "200", "IGZ_CLUSTERS_DATA": str(folder / "data")}
    return subprocess.run(
        [COMMAND, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_it_says_what_it_made_and_which_commands_come_next(tmp_path: Path) -> None:
    result = igz_clusters(
        tmp_path, "init", "my clusters", "--name", "acme", "--source", "https://example.invalid/r.git"
    )
    assert result.returncode == 0, result.stderr
    assert "has the stacks acme-dev and acme-prod." in result.stdout
    assert "from https://example.invalid/r.git." in result.stdout
    assert f"  cd '{tmp_path / 'my clusters'}'\n  make up " in result.stdout


def test_a_cloud_wants_choices_before_anything_is_made(tmp_path: Path) -> None:
    result = igz_clusters(tmp_path, "init", "acme", "--cluster", "aks", "--source", "https://example.invalid/r.git")
    assert result.returncode == 0, result.stderr
    yours = '  # replace what is marked "yours"; docs/aks.md tells the rest\n'
    assert f"  cd {tmp_path / 'acme'}\n{yours}  make up " in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["acme", "--cluster", "moon"],
            "--cluster: 'moon' is no kind of cluster that a repository can start from.\nAllowed: local, eks, aks.",
        ),
        (["acme", "--cluster", "existing"], "a cluster that is there already lies beside theirs: docs/existing.md."),
        (["Acme"], "The name 'Acme' cannot begin the names of clusters.\nChoose one with --name"),
        (["acme", "--source", "a b"], "The source 'a b' holds a character that cannot be used."),
        (["."], "not empty; it was left as it is."),
    ],
)
def test_a_mistake_is_answered_in_a_sentence_and_nothing_is_written(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "in-use").mkdir()
    (tmp_path / "in-use" / "file").touch()
    result = igz_clusters(tmp_path / "in-use", "init", *arguments)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert [entry.name for entry in (tmp_path / "in-use").iterdir()] == ["file"]


def test_the_option_for_the_folder_reaches_the_commands(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    result = igz_clusters(tmp_path, "-C", "elsewhere", "status", "dev")
    assert result.returncode == 1
    assert f"Stack 'dev' not found in {tmp_path / 'elsewhere'}." in result.stderr
