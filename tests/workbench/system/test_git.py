"""What Git prints reaches the caller as it is, except for the end of the last line."""

from pathlib import Path

from workbench.system.git import git


def test_the_beginning_of_a_file_is_kept(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("\n  a: 1\n")
    git(tmp_path, "add", "file")
    assert git(tmp_path, "show", ":file") == "\n  a: 1"
