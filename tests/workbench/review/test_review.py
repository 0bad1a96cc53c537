"""What becomes of stacks that are not planned; the engine's tests have all others."""

from pathlib import Path
from typing import Any, cast

import pytest

from support.changes import Checkout
from workbench.cli import app
from workbench.report import record
from workbench.report.model import Outcome
from workbench.report.rehearsed import Rehearsal, State
from workbench.review.review import Review
from workbench.stacks import FOLDER_VARIABLE
from workbench.system import virtual_environments
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

NO_TOOLS = cast("Any", None)


@pytest.mark.parametrize(("wanted", "outcome"), [(["mine"], Outcome.UNJUDGED), ([], Outcome.PASSED)])
def test_a_named_stack_that_cannot_be_compared_here_does_not_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: list[str], outcome: Outcome
) -> None:
    (tmp_path / "base").mkdir()
    base = Checkout(tmp_path / "base")
    base.git("init", "--quiet")
    base.write("Pulumi.mine.yaml", (PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    base.commit()
    head = base.branch(tmp_path / "head")
    monkeypatch.setenv(FOLDER_VARIABLE, str(base.root))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    rehearsals = {"mine": [Rehearsal(scenario="jobs", after=State(groups=[], nodes={}))]}
    Review(head.root, NO_TOOLS, compared=True, rehearsals=rehearsals).write(tmp_path / "record", wanted)
    assert record.read(tmp_path / "record").outcome is outcome
    kept = record.Contents.model_validate_json((tmp_path / "record" / record.CONTENTS).read_bytes())
    assert kept.rehearsals == (rehearsals if wanted else {})


def test_a_folder_with_more_than_a_record_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = Checkout(tmp_path)
    head.git("init", "--quiet")
    head.write("review.json", "{}")
    head.commit()
    monkeypatch.setenv(FOLDER_VARIABLE, str(head.root))
    with pytest.raises(UserError, match="is not empty and not a record"):
        Review(head.root, NO_TOOLS).write(head.root)
    assert (head.root / "review.json").exists()


def test_a_change_that_hides_code_is_refused_before_anything_of_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "base").mkdir()
    base = Checkout(tmp_path / "base")
    base.git("init", "--quiet")
    base.write("infra/program.py", "")
    base.commit()
    head = base.branch(tmp_path / "head")
    head.write("infra/program.pyc", "")
    monkeypatch.setenv(FOLDER_VARIABLE, str(base.root))
    with pytest.raises(UserError, match=r"in place of reviewed source: infra/program\.pyc"):
        Review(head.root, NO_TOOLS).write(tmp_path / "record")


def test_a_change_whose_packages_cannot_be_installed_is_not_judged_and_not_blocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "head").mkdir()
    head = Checkout(tmp_path / "head")
    head.git("init", "--quiet")
    head.write("infra/__main__.py", "")
    head.write("requirements.txt", "no-such-package==1.0 --hash=sha256:00\n")
    head.commit()
    monkeypatch.setenv(FOLDER_VARIABLE, str(head.root))

    def fail(*_: object) -> Path:
        raise UserError("requirements could not be installed for Python 3.11.", "Check the network.")

    monkeypatch.setattr(virtual_environments, "interpreter", fail)
    monkeypatch.setattr(app, "app", lambda: Review(head.root, NO_TOOLS).write(tmp_path / "record"))
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == Outcome.UNJUDGED.exit_code == 3
    assert "could not be judged: requirements could not be installed" in capfd.readouterr().err
