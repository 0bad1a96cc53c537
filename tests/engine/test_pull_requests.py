"""A walk through the pull requests that people open: what the review makes of each, and the comment that says so."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from support.changes import Checkout
from support.cluster import COMMAND, eventually
from support.pull_requests import (
    CANARY,
    CASES,
    COMMENTS,
    Forge,
    break_the_stack_file,
    forge,
    raise_a_maximum,
    write_documents,
)
from support.sampled import sampled
from workbench.engine.render import install
from workbench.offline.aws.facts import facts
from workbench.report import record
from workbench.report.model import FindingStatus, Judge, Operation, Outcome, Source
from workbench.review.package import BASE
from workbench.review.plans import Tools
from workbench.review.review import Review
from workbench.review.runs import Runs
from workbench.stacks import FOLDER_VARIABLE
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain.recipes import PROVIDER_VERSION as KUBERNETES_VERSION

pytestmark = pytest.mark.engine

KEPT = ("a-pools-maximum-is-raised", "a-stack-file-is-broken")
"""What `make test` reviews of the cases."""
LIKE_OTHERS = ("a-waiver-is-expired", "instance-types-change", "code-drops-all-taints")
"""A refusal by a rule and changes of groups, as in other cases; only the words of their comments are their own."""


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return forge(tmp_path_factory.mktemp("forge"))


@pytest.fixture(scope="module")
def base(changes: Forge) -> Checkout:
    return changes.base


@pytest.mark.parametrize(
    "name",
    [
        *sampled([name for name in CASES if name not in LIKE_OTHERS], KEPT),
        *sampled(LIKE_OTHERS, (), pytest.mark.proofs),
    ],
)
def test_a_change_gets_its_verdict_and_its_comment(changes: Forge, name: str) -> None:
    found = changes.reviewed(name)
    assert (COMMENTS / f"{name}.md").read_text() == found.comment
    assert found.report.outcome is CASES[name].outcome


@pytest.mark.full
def test_a_fork_that_runs_code_finds_no_secret(changes: Forge) -> None:
    found = changes.reviewed("a-fork-looks-for-secrets")
    written = b"".join(file.read_bytes() for file in found.record.rglob("*") if file.is_file())
    assert b'"stolen"' in written  # its code ran
    assert CANARY.encode() not in written
    assert CANARY not in found.comment


@pytest.mark.full
def test_a_rule_that_a_change_weakens_is_the_base_branchs_still(changes: Forge) -> None:
    (stack,) = changes.reviewed("a-rule-is-weakened-with-what-breaks-it").report.stacks
    violated = {
        (finding.rule, finding.judge) for finding in stack.findings if finding.standing is FindingStatus.VIOLATED
    }
    assert violated == {("NG-11", Judge.BASE)}


@pytest.mark.full
def test_a_waiver_of_the_same_change_is_for_people_to_judge(changes: Forge) -> None:
    (stack,) = changes.reviewed("a-waiver-comes-with-what-it-excuses").report.stacks
    assert {(finding.rule, finding.standing) for finding in stack.findings} == {("NG-11", FindingStatus.EXCUSED)}


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize(("edit", "code"), [(break_the_stack_file, 1), (write_documents, 0)])
def test_the_command_ends_with_the_verdicts_code(
    base: Checkout, tmp_path: Path, edit: Callable[[Checkout], None], code: int
) -> None:
    head = base.branch(tmp_path / "head")
    edit(head)
    result = command("-C", base.root, "review", "--head", head.root, "--record", tmp_path / "record", "--hermetic")
    assert result.returncode == code, result.stderr
    assert command("report", tmp_path / "record").stdout == result.stdout


@pytest.mark.full
def test_a_former_record_is_replaced_and_somebodys_folder_is_not(base: Checkout, tmp_path: Path) -> None:
    head, folder = base.branch(tmp_path / "head"), tmp_path / "record"
    write_documents(head)
    (folder / "stacks" / "former").mkdir(parents=True)
    (folder / "review.json").touch()
    review = ("-C", base.root, "review", "--head", head.root, "--record", folder, "--hermetic")
    result = command(*review)
    assert result.returncode == 0, result.stderr
    assert not (folder / "stacks" / "former").exists()
    (folder / "review.json").unlink()
    (folder / "mine").touch()
    refused = command(*review)
    assert refused.returncode == 1
    assert "is not empty and not a record" in refused.stderr
    assert (folder / "mine").exists()


@pytest.mark.full
def test_ctrl_c_ends_a_review_and_leaves_nothing_behind(base: Checkout, tmp_path: Path) -> None:
    head = base.branch(tmp_path / "head")
    raise_a_maximum(head)
    (tmp_path / "scratch").mkdir()
    process = subprocess.Popen(
        [COMMAND, "-C", base.root, "review", "--head", head.root, "--record", tmp_path / "record", "--hermetic"],
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch")},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr
    while "building a baseline" not in process.stderr.readline():
        assert process.poll() is None
    eventually(lambda: any(map(_is_python, psutil.Process(process.pid).children(recursive=True))))
    started = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    _, alive = psutil.wait_procs(started, timeout=600)
    assert alive == []
    assert list((tmp_path / "scratch").iterdir()) == []
    assert not (tmp_path / "record" / "review.json").exists()


def _is_python(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.name() == "python"
    return False


@pytest.mark.full
def test_a_compared_review_plans_onto_the_users_own_backend_and_writes_nothing_there(
    changes: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, backend, home = changes.base, tmp_path / "backend", tmp_path / "home"
    backend.mkdir()
    for package, version in {"aws": facts().release, "kubernetes": KUBERNETES_VERSION}.items():
        install(home, package, version, sys.executable, "-P", "-m", "workbench.offline.noop_providers", package)
    user = {
        FOLDER_VARIABLE: str(base.root),
        "PULUMI_HOME": str(home),
        "PULUMI_BACKEND_URL": f"file://{backend}",
        "PULUMI_CONFIG_PASSPHRASE": "not a secret",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    for variable, value in user.items():
        monkeypatch.setenv(variable, value)
    state = changes.state("dev", Tools(changes.toolchain, Runs(), BASE, base.root))
    shutil.copy(PROJECT_ROOT / "Pulumi.yaml", backend)
    for arguments, given in ((("init", "dev", "--no-select"), ""), (("import", "--stack=dev", "--force"), state)):
        subprocess.run(
            [changes.toolchain.pulumi, "stack", *arguments, "--non-interactive"],
            cwd=backend,
            input=given,
            text=True,
            capture_output=True,
            check=True,
        )
    before = {file: file.read_bytes() for file in backend.rglob("*") if file.is_file()}

    head = base.branch(tmp_path / "head")
    raise_a_maximum(head)
    salt = (backend / "Pulumi.dev.yaml").read_text()
    head.write("Pulumi.dev.yaml", salt + (head.root / "Pulumi.dev.yaml").read_text())
    Review(head.root, changes.toolchain, compared=True).write(tmp_path / "record")
    (stack,) = record.read(tmp_path / "record").stacks
    assert (stack.source, stack.outcome, stack.problems) == (Source.COMPARED, Outcome.PASSED, ())
    assert [(change.operation, change.name) for change in stack.changes] == [(Operation.UPDATE, "dev-workload")]
    assert {file: file.read_bytes() for file in backend.rglob("*") if file.is_file()} == before
