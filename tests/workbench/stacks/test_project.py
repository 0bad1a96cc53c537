"""A folder whose project file is that of another program."""

from pathlib import Path

import pytest

from workbench import stacks
from workbench.cli import main
from workbench.stacks.project import project, require_ours
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("text", [None, "name: igz-clusters\nruntime: python\n", "a: [", "- 1", "name: 1"])
def test_without_the_name_of_another_project_it_is_ours(place: Path, text: str | None) -> None:
    if text is not None:
        (place / "Pulumi.yaml").write_text(text)
    assert project() in (None, "igz-clusters")
    require_ours()


def test_stack_files_of_a_program_with_the_component_are_not_ours(place: Path) -> None:
    (place / "Pulumi.yaml").write_text("name: acme\nruntime: yaml\n")
    with pytest.raises(
        UserError,
        match=r"is of project 'acme'. If its program creates these clusters, igz-clusters would",
    ):
        require_ours()


@pytest.mark.parametrize("command", ["up", "preview"])
def test_up_and_its_preview_refuse_it(
    command: str, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "Pulumi.yaml").write_text("name: acme\nruntime: yaml\n")
    (place / "Pulumi.local.yaml").write_text((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    monkeypatch.setattr("sys.argv", ["igz-clusters", command, "local"])
    with pytest.raises(SystemExit):
        main()
    assert "is of project 'acme'" in capsys.readouterr().err
