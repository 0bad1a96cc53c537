"""A walk through the pull requests that people open: what the review makes of each, and the comment that says so.

The comments are golden files in ``comments/``: read every change of them as the person who opened the pull request.
"""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import pytest

from policies.waivers import today
from support.changes import Checkout, repository
from support.cluster import COMMAND, eventually
from workbench.engine.render import TOOLS
from workbench.paths import PROJECT_ROOT
from workbench.report import markdown, record
from workbench.report.model import Judge, Outcome, Report, Standing
from workbench.review.plans import Tools, pretended
from workbench.review.review import Review
from workbench.stacks import FOLDER_VARIABLE
from workbench.toolchain import Toolchain, ensure

pytestmark = pytest.mark.engine

COMMENTS = PROJECT_ROOT / "tests" / "engine" / "comments"
CANARY = "canary-5d1f0c"
SECRETS = {
    "AWS_ACCESS_KEY_ID": f"AKIA{CANARY}",
    "AWS_SECRET_ACCESS_KEY": CANARY,
    "AZURE_CLIENT_SECRET": CANARY,
    "GITHUB_TOKEN": CANARY,
    "KUBECONFIG": f"/{CANARY}",
    "PULUMI_ACCESS_TOKEN": CANARY,
    "PULUMI_CONFIG_PASSPHRASE": CANARY,
}
THIEF = """
import json, os
from pathlib import Path
import pulumi
found = {**os.environ, **{str(file): file.read_text() for file in Path.home().glob(".*/*") if file.is_file()}}
pulumi.export("stolen", found)
pulumi.log.warn(json.dumps(found))
"""
NG_11 = "policies/rules/node_groups/ng_11_sizes_are_bounded.py"


def waiver(**changes: Any) -> dict[str, Any]:
    return {
        "rule": "NG-11",
        "stack": "prod",
        "resource": "aws:eks/nodeGroup:NodeGroup::prod-workload",
        "reason": "the yearly training run",
        "owner": "ml-platform",
        "ticket": "OPS-7",
        "expires": today() + timedelta(days=30),
        **changes,
    }


def raise_a_maximum(head: Checkout) -> None:
    head.choose("dev", pools__workload__size={"min": 1, "max": 20})


def exchange_instance_types(head: Checkout) -> None:
    head.choose("prod", pools__initial__instanceTypes=["m6i.2xlarge"])


def drop_the_taint_of_spot_nodes(head: Checkout) -> None:
    head.choose("dev", pools__spot__lifecycle="on-demand")


def drop_all_taints_in_code(head: Checkout) -> None:
    taints = "[NodeGroupTaintArgs(**taint.to_eks()) for taint in group.taints]"
    head.replace("components/clusters/eks/node_groups.py", f"taints={taints}", "taints=[]")


def rename_the_cluster(head: Checkout) -> None:
    head.choose("prod", cluster__name="analysis")


def waive_what_it_breaks(head: Checkout) -> None:
    head.choose("prod", pools__workload__size={"min": 1, "max": 400})
    head.overrides(waivers=[waiver()])


def waive_until_yesterday(head: Checkout) -> None:
    head.choose("prod", pools__workload__size={"min": 1, "max": 400})
    head.overrides(waivers=[waiver(expires="2026-01-31")])


def break_the_stack_file(head: Checkout) -> None:
    head.choose("prod", pools__workload__size={"min": 9, "max": 3}, cluster__regoin="eu-west-1")


def write_documents(head: Checkout) -> None:
    head.write("docs/operations.md", "# How we do it\n")
    head.write("README.md", "# Clusters\n")


def steal(head: Checkout) -> None:
    program = head.root / "infra" / "__main__.py"
    program.write_text(program.read_text() + THIEF)


def weaken_the_rule_that_it_breaks(head: Checkout) -> None:
    head.replace(NG_11, "elif largest > most:", "elif largest > 10 * most:")
    head.choose("prod", pools__workload__size={"min": 1, "max": 400})


@dataclass(frozen=True)
class Case:
    """A change, the stacks that are reviewed if not all that it affects, and the verdict."""

    edit: Callable[[Checkout], None]
    outcome: Outcome
    wanted: tuple[str, ...] = ()


CASES: Mapping[str, Case] = {
    "a-pools-maximum-is-raised": Case(raise_a_maximum, Outcome.PASSED),
    "instance-types-change": Case(exchange_instance_types, Outcome.BLOCKED),
    "spot-becomes-on-demand": Case(drop_the_taint_of_spot_nodes, Outcome.PASSED),
    "code-drops-all-taints": Case(drop_all_taints_in_code, Outcome.BLOCKED, ("prod",)),
    "the-cluster-is-renamed": Case(rename_the_cluster, Outcome.BLOCKED),
    "a-waiver-comes-with-what-it-excuses": Case(waive_what_it_breaks, Outcome.REVIEW),
    "a-waiver-is-expired": Case(waive_until_yesterday, Outcome.BLOCKED),
    "a-stack-file-is-broken": Case(break_the_stack_file, Outcome.BLOCKED),
    "only-documents-change": Case(write_documents, Outcome.PASSED),
    "a-fork-looks-for-secrets": Case(steal, Outcome.PASSED, ("dev",)),
    "a-rule-is-weakened-with-what-breaks-it": Case(weaken_the_rule_that_it_breaks, Outcome.BLOCKED, ("prod",)),
}


@dataclass(frozen=True)
class Reviewed:
    """A change after its review."""

    report: Report
    record: Path

    @property
    def comment(self) -> str:
        """The comment without what differs from run to run: commits, days, random ends of names."""
        text = markdown.render(self.report)
        for moving, stands in (
            (self.report.base, "BASE"),
            (self.report.head, "HEAD"),
            (str(waiver()["expires"]), "IN-30-DAYS"),
        ):
            text = text.replace(moving, stands)
        return re.sub(r"(?<=-)[0-9a-f]{7}\b", "RANDOM", text)


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return ensure(TOOLS, hermetic=True)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return repository(tmp_path_factory.mktemp("forge") / "base")


_STATES: dict[str, str] = {}


def pretended_once(name: str, tools: Tools) -> str:
    """Bring a stack of the base branch up once for all changes of it."""
    if name not in _STATES:
        _STATES[name] = pretended(name, tools)
    return _STATES[name]


@pytest.fixture(scope="module")
def reviewed(
    base: Checkout, toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Reviewed]:
    home = tmp_path_factory.mktemp("home")
    (home / ".aws").mkdir()
    (home / ".aws" / "credentials").write_text(CANARY)

    @cache
    def review(name: str) -> Reviewed:
        case, folder = CASES[name], tmp_path_factory.mktemp(name)
        head = base.branch(folder / "head")
        case.edit(head)
        head.commit()
        with pytest.MonkeyPatch.context() as patch:
            for variable, value in {**SECRETS, "HOME": str(home), FOLDER_VARIABLE: str(base.root)}.items():
                patch.setenv(variable, value)
            Review(head.root, toolchain, onto=pretended_once).write(folder / "record", case.wanted)
        return Reviewed(record.read(folder / "record"), folder / "record")

    return review


@pytest.mark.parametrize("name", CASES)
def test_a_change_gets_its_verdict_and_its_comment(reviewed: Callable[[str], Reviewed], name: str) -> None:
    found = reviewed(name)
    assert (COMMENTS / f"{name}.md").read_text() == found.comment
    assert found.report.outcome is CASES[name].outcome


def test_a_fork_that_runs_code_finds_no_secret(reviewed: Callable[[str], Reviewed]) -> None:
    found = reviewed("a-fork-looks-for-secrets")
    written = b"".join(file.read_bytes() for file in found.record.rglob("*") if file.is_file())
    assert b'"stolen"' in written  # its code ran
    assert CANARY.encode() not in written
    assert CANARY not in found.comment


def test_a_rule_that_a_change_weakens_is_the_base_branchs_still(reviewed: Callable[[str], Reviewed]) -> None:
    (stack,) = reviewed("a-rule-is-weakened-with-what-breaks-it").report.stacks
    violated = {(finding.rule, finding.judge) for finding in stack.findings if finding.standing is Standing.VIOLATED}
    assert violated == {("NG-11", Judge.BASE)}


def test_a_waiver_of_the_same_change_is_for_people_to_judge(reviewed: Callable[[str], Reviewed]) -> None:
    (stack,) = reviewed("a-waiver-comes-with-what-it-excuses").report.stacks
    assert {(finding.rule, finding.standing) for finding in stack.findings} == {("NG-11", Standing.EXCUSED)}


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(("edit", "code"), [(break_the_stack_file, 1), (write_documents, 0)])
def test_the_command_ends_with_the_verdicts_code(
    base: Checkout, tmp_path: Path, edit: Callable[[Checkout], None], code: int
) -> None:
    head = base.branch(tmp_path / "head")
    edit(head)
    review = ("-C", base.root, "review", "--head", head.root, "--record", tmp_path / "record", "--hermetic")
    for _ in range(2):  # a former record is replaced
        result = command(*review)
        assert result.returncode == code, result.stderr
    assert command("report", tmp_path / "record").stdout == result.stdout
    (tmp_path / "record" / "review.json").unlink()
    (tmp_path / "record" / "mine").touch()
    refused = command(*review)
    assert refused.returncode == 1
    assert "is not empty and no record" in refused.stderr
    assert (tmp_path / "record" / "mine").exists()


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
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 as in a terminal
    )
    assert process.stderr
    while "pretending" not in process.stderr.readline():
        assert process.poll() is None
    eventually(
        lambda: [child for child in psutil.Process(process.pid).children(recursive=True) if child.name() == "python"]
    )
    started = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    _, alive = psutil.wait_procs(started, timeout=10)
    assert alive == []
    assert list((tmp_path / "scratch").iterdir()) == []
    assert not (tmp_path / "record" / "review.json").exists()
