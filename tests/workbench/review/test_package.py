"""Which checkout of the package runs a change, and that it runs nothing of another."""

import subprocess
from pathlib import Path

import pytest

from support.changes import Checkout, repository
from workbench.review.package import BASE, JUDGE, Package, is_same, package_of
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT


def pinned(folder: Path, commit: str) -> Checkout:
    made = Checkout(folder)
    made.write("package.mk", f"PACKAGE_SOURCE := elsewhere\nPACKAGE_TAG :=\nPACKAGE_COMMIT := {commit}\n")
    return made


def imported(package: Package, module: str) -> Path:
    """Return where the package's interpreter finds a module, wherever it is started."""
    command = [package.python, "-P", "-c", f"import {module}; print({module}.__file__)"]
    run = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
    return Path(run.stdout.strip())


def test_a_change_of_choices_alone_runs_what_the_base_branch_runs(tmp_path: Path) -> None:
    base = repository(tmp_path / "base")
    head = base.branch(tmp_path / "head")
    head.choose("dev", pools__workload__size={"min": 1, "max": 20})
    assert package_of(base.root, head.root, tmp_path / "copy") == BASE


def test_a_change_of_the_program_runs_its_own_copy_with_the_packages_that_are_there(tmp_path: Path) -> None:
    base = repository(tmp_path / "base")
    head = base.branch(tmp_path / "head")
    head.write("infra/more.py", "")
    package = package_of(base.root, head.root, tmp_path / "copy")
    for module in ("infra", "policies", "workbench.review.own"):
        assert imported(package, module).is_relative_to(tmp_path / "copy")
        assert imported(BASE, module).is_relative_to(PROJECT_ROOT)
    assert imported(package, "pulumi") == imported(BASE, "pulumi")
    assert not (head.root / ".venv").exists()
    assert is_same(base.root, head.root, JUDGE)
    for folder in ("policies", "components/contract", "components/stack_files"):
        head.write(f"{folder}/more.py", "")
        assert not is_same(base.root, head.root, JUDGE)
        (head.root / folder / "more.py").unlink()
    assert is_same(base.root, head.root, JUDGE)


def test_a_repository_of_stack_files_runs_the_release_that_it_pins(tmp_path: Path) -> None:
    base = pinned(tmp_path / "base", "a" * 40)
    assert package_of(base.root, pinned(tmp_path / "same", "a" * 40).root, tmp_path) == BASE

    head = pinned(tmp_path / "head", "b" * 40)
    missing = f"pins {'b' * 12} of this package, but .*/head/.igz-clusters does not contain it"
    with pytest.raises(UserError, match=missing):
        package_of(base.root, head.root, tmp_path)

    (head.root / ".igz-clusters").mkdir()
    release = Checkout(head.root / ".igz-clusters")
    release.git("init", "--quiet")
    release.write(".venv/bin/python", "")
    release.commit()
    run = subprocess.run(["git", "-C", release.root, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    commit = run.stdout.strip()
    pinned(head.root, commit)
    assert package_of(base.root, head.root, tmp_path) == Package(release.root, release.root / ".venv/bin/python")
