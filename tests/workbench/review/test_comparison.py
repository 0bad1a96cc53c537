"""What differs between two checkouts, by Git."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.changes import Checkout
from workbench.review.comparison import ChangedFile, compare, refuse_hidden_code
from workbench.system.errors import UserError


@pytest.fixture
def base(tmp_path: Path) -> Checkout:
    (tmp_path / "base").mkdir()
    made = Checkout(tmp_path / "base")
    made.git("init", "--quiet")
    for name in ("kept", "edited", "moved", "removed", "sub/inside"):
        made.write(name, f"{name}\n" * 20)
    made.commit()
    return made


def test_a_clone_is_compared_with_all_that_lies_in_it(base: Checkout, tmp_path: Path) -> None:
    head = base.branch(tmp_path / "head")
    head.write("edited", "other")
    head.git("mv", "moved", "with a blank and ü")
    head.git("rm", "removed")
    head.commit()
    head.write("new", "not committed")
    found = compare(base.root, head.root)
    assert found.files == (
        ChangedFile("edited"),
        ChangedFile("new"),
        ChangedFile("removed", is_gone=True),
        ChangedFile("with a blank and ü", was="moved"),
    )
    assert len({found.base, found.head}) == 2
    assert [note.partition(" ")[2] for note in found.notes] == ["has uncommitted changes; they are reviewed too."]


def test_paths_are_those_below_the_folder_of_the_stack_files(base: Checkout, tmp_path: Path) -> None:
    head = base.branch(tmp_path / "head")
    head.write("sub/inside", "other")
    head.write("sub/new", "other")
    head.write("edited", "other")
    found = compare(base.root / "sub", head.root / "sub")
    assert [file.path for file in found.files] == ["/edited", "inside", "new"]


def test_what_the_base_branch_did_meanwhile_is_no_change_and_is_said(base: Checkout, tmp_path: Path) -> None:
    head = base.branch(tmp_path / "head")
    head.write("edited", "other")
    head.commit()
    base.write("kept", "meanwhile")
    base.commit()
    found = compare(base.root, head.root)
    assert found.files == (ChangedFile("edited"),)
    assert "lacks commits of" in found.notes[0]


def test_a_link_differs_with_what_it_leads_to(base: Checkout, tmp_path: Path) -> None:
    for name, target in {"file": "edited", "folder": "sub", "other": "kept", "outside": "/", "gone": "nowhere"}.items():
        (base.root / name).symlink_to(target)
    base.commit()
    head = base.branch(tmp_path / "head")
    head.write("edited", "other")
    head.write("sub/inside", "other")
    head.commit()
    assert [file.path for file in compare(base.root, head.root).files] == ["edited", "file", "folder", "sub/inside"]


def test_a_link_differs_with_a_link_on_its_way(base: Checkout, tmp_path: Path) -> None:
    base.write("sub/deep/inside", "other")
    for name, target in {
        "start": "through/inside",
        "through": "middle",
        "middle": "sub",
        "round": "about",
        "about": "round",
        "whole": str(base.root / "middle" / "inside"),
    }.items():
        (base.root / name).symlink_to(target)
    base.commit()
    head = base.branch(tmp_path / "head")
    (head.root / "middle").unlink()
    (head.root / "middle").symlink_to("sub/deep")
    head.commit()
    assert [file.path for file in compare(base.root, head.root).files] == ["middle", "start", "through"]


def test_a_submodule_that_a_change_hides_is_seen(base: Checkout, tmp_path: Path) -> None:
    head = base.branch(tmp_path / "head")
    head.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(base.root), "policies")
    head.git("config", "--file", ".gitmodules", "submodule.policies.ignore", "all")
    head.commit()
    assert [file.path for file in compare(base.root, head.root).files] == [".gitmodules", "policies"]


def test_nothing_is_written_into_either(base: Checkout, tmp_path: Path) -> None:
    head = base.branch(tmp_path / "head")
    (head.root / "edited").touch()

    def contents() -> dict[str, bytes]:
        files = (file for root in (base.root, head.root) for file in root.rglob("*") if file.is_file())
        return {str(file): file.read_bytes() for file in files}

    before = contents()
    compare(base.root, head.root)
    assert contents() == before


def test_a_shallow_clone_is_refused_with_the_way_out(base: Checkout, tmp_path: Path) -> None:
    base.write("edited", "other")
    base.commit()
    command = ["git", "clone", "--quiet", "--depth=1", f"file://{base.root}", tmp_path / "head"]
    subprocess.run(command, check=True)
    head = Checkout(tmp_path / "head")
    head.write("edited", "third")
    head.commit()
    base.git("reset", "--quiet", "--hard", "HEAD~1")
    with pytest.raises(UserError, match="fetch-depth: 0"):
        compare(base.root, head.root)


def test_a_folder_without_git_is_refused(base: Checkout, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    with pytest.raises(UserError, match="is not a Git checkout"):
        compare(base.root, tmp_path / "bare")
    with pytest.raises(UserError, match="does not exist"):
        compare(base.root, tmp_path / "nowhere")
    shutil.rmtree(base.root / ".git")
    with pytest.raises(UserError, match="is not a Git checkout"):
        compare(base.root, base.root)


@pytest.mark.parametrize(
    "path",
    [
        "infra/__pycache__/program.cpython-311.pyc",
        "infra/program/__init__.pyc",
        "infra/program/__init__.py",
        "infra/program.abi3.so",
        "infra/__pycache__",
        "top.pyc",
        "policies.py",
    ],
)
def test_a_file_that_python_loads_in_place_of_source_is_refused(base: Checkout, tmp_path: Path, path: str) -> None:
    base.write(".gitignore", "__pycache__/\n*.pyc\n")
    base.write("infra/program.py", "")
    base.write("infra/config/__init__.py", "")
    base.commit()
    head = base.branch(tmp_path / "head")
    refuse_hidden_code(base.root, head.root)
    head.write(path, "")
    head.git("add", "--force", path)
    with pytest.raises(UserError, match=f"in place of reviewed source: {path}"):
        refuse_hidden_code(base.root, head.root)


def test_a_link_that_shadows_a_module_is_refused_and_caches_of_a_run_are_not(base: Checkout, tmp_path: Path) -> None:
    base.write(".gitignore", "__pycache__/\n")
    base.write("program.py", "")
    base.write("__pycache__/program.cpython-311.pyc", "")
    base.commit()
    head = base.branch(tmp_path / "head")
    refuse_hidden_code(base.root, head.root)
    (head.root / "program").symlink_to("sub")
    with pytest.raises(UserError, match="source: program"):
        refuse_hidden_code(base.root, head.root)


def test_what_the_base_branch_hides_already_is_refused_only_if_it_changes(base: Checkout, tmp_path: Path) -> None:
    base.write("infra/program.py", "")
    for path in ("infra/fast.abi3.so", "infra/program/__init__.py"):
        base.write(path, "old")
    (base.root / "infra" / "other").symlink_to("elsewhere")
    base.write("infra/other.py", "")
    base.commit()
    head = base.branch(tmp_path / "head")
    head.write("docs/page.md", "")
    refuse_hidden_code(base.root, head.root)
    head.write("infra/fast.abi3.so", "new")
    head.write("infra/program/__init__.py", "new")
    (head.root / "infra" / "other").unlink()
    (head.root / "infra" / "other").symlink_to("evil")
    with pytest.raises(UserError, match=r"source: infra/fast.abi3.so, infra/other, infra/program/__init__.py\."):
        refuse_hidden_code(base.root, head.root)
    head.write("infra/fast.abi3.so", "old")
    with pytest.raises(UserError, match=r"source: infra/other, infra/program/__init__.py\."):
        refuse_hidden_code(base.root, head.root)


@pytest.mark.parametrize("path", ["json.py", "yaml/__init__.py", "yaml", "sitecustomize.py"])
def test_a_new_module_in_the_root_that_python_would_load_first_is_refused(
    base: Checkout, tmp_path: Path, path: str
) -> None:
    head = base.branch(tmp_path / "head")
    for harmless in ("helper.py", "docs/json.py", "json/notes.md", "pulumi.svg"):
        head.write(harmless, "")
    refuse_hidden_code(base.root, head.root)
    head.write(path, "")
    with pytest.raises(UserError, match=f"in place of reviewed source: {path}"):
        refuse_hidden_code(base.root, head.root)


def test_a_module_that_the_base_branch_has_too_is_not_refused(base: Checkout, tmp_path: Path) -> None:
    base.write("infra/__init__.py", "")
    base.write("types.py", "")
    base.commit()
    head = base.branch(tmp_path / "head")
    head.write("types.py", "# changed")
    refuse_hidden_code(base.root, head.root)
