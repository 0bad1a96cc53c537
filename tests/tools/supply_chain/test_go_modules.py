from pathlib import Path

import pytest

from tools.supply_chain.go_modules import Module, folders, modules, problems
from workbench.system.errors import UserError

GO_MOD = """\
module example.invalid/tool

go 1.26

replace example.invalid/old => example.invalid/new v1.2.0

require (
\texample.invalid/old v1.0.0
\texample.invalid/same v0.1.0 // indirect
)
"""
GO_SUM = """\
example.invalid/new v1.2.0 h1:aaaa=
example.invalid/new v1.2.0/go.mod h1:bbbb=
example.invalid/same v0.1.0 h1:cccc=
example.invalid/same v0.1.0/go.mod h1:dddd=
"""


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    folder = tmp_path / "toolchain" / "tool"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text(GO_MOD)
    (folder / "go.sum").write_text(GO_SUM)
    return folder


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_every_module_of_the_toolchain_has_its_hashes(folder: Path) -> None:
    assert len(modules(folder)) > 5
    assert list(problems(folder)) == []


def test_replacements_and_indirect_modules_are_those_that_are_built(tool: Path) -> None:
    assert modules(tool) == [
        Module("example.invalid/new", "v1.2.0", ("h1:aaaa=", "h1:bbbb=")),
        Module("example.invalid/same", "v0.1.0", ("h1:cccc=", "h1:dddd=")),
    ]
    assert list(problems(tool)) == []


def test_a_module_without_a_hash_is_a_problem(tool: Path) -> None:
    (tool / "go.sum").write_text(GO_SUM.replace("v0.1.0 h1", "v0.2.0 h1"))
    [found] = problems(tool)
    assert found.startswith("toolchain/tool/go.mod: example.invalid/same v0.1.0: no hash in go.sum")


def test_a_folder_in_place_of_a_module_is_a_problem(tool: Path) -> None:
    (tool / "go.mod").write_text(GO_MOD.replace("example.invalid/new v1.2.0", "../elsewhere"))
    [found] = problems(tool)
    assert found == "toolchain/tool/go.mod: ../elsewhere: replaced by a folder, whose content has no hash"


def test_a_file_that_go_cannot_read_and_a_missing_go_are_no_traceback(
    tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tool / "go.mod").write_text("modul x\n")
    with pytest.raises(UserError, match=r"Go cannot read .*go\.mod: (.|\n)*unknown directive: modul"):
        modules(tool)
    monkeypatch.setenv("PATH", str(tool))
    with pytest.raises(UserError, match="Go is not installed"):
        modules(tool)
