import subprocess
from pathlib import Path

from tools.tracked import tracked


def test_deleted_and_ignored_files_are_left_out_and_new_ones_come_on_request(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    for name in ("kept ü.py", "gone.py", "page.md"):
        (tmp_path / name).touch()
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "gone.py").unlink()
    for name in ("new.py", "ignored.py"):
        (tmp_path / name).touch()
    assert tracked("*.py", root=tmp_path) == ["kept ü.py"]
    assert set(tracked(root=tmp_path, and_new=True)) == {".gitignore", "kept ü.py", "page.md", "new.py"}
