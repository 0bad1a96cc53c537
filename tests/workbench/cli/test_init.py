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
    steps = result.stdout.partition("Next:\n")[2]
    assert steps.split()[:2] == ["cd", str(tmp_path / "acme")]
    assert steps.index('# replace the values marked "yours"') < steps.index("make check")
    assert ".igz-clusters/docs/aks.md" in steps
    assert steps.index("make check") < steps.index("make ci") < steps.index("make up")


def test_a_folder_inside_another_repository_works_and_is_noted(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    result = igz_clusters(tmp_path, "init", "acme", "--source", "https://example.invalid/r.git")
    assert result.returncode == 0, result.stderr
    assert f"{tmp_path / 'acme'} is inside the Git repository {tmp_path}: list it in that" in result.stderr
    branch = ["git", "-C", tmp_path / "acme", "symbolic-ref", "--short", "HEAD"]
    assert subprocess.run(branch, capture_output=True, text=True, check=True).stdout == "main\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["acme", "--cluster", "moon"],
            "--cluster: unsupported cluster kind 'moon'.\nAllowed: local, eks, aks, existing.",
        ),
        (["Acme"], "The name 'Acme' cannot be the first part of cluster names.\nChoose one with --name"),
        (["acme", "--source", "a b"], "The source 'a b' contains a character that is not allowed."),
        (["."], "is not empty; nothing was written."),
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
