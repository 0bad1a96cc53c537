"""The packs with the real engine: states that are good and bad, and packs that do not come to an answer."""

import json
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from components.contract.environments import Environment
from support.cluster import COMMAND
from support.sampled import sampled
from workbench.engine import policy_analysis
from workbench.engine.policy_analysis import TOOLS, Verdict, analyse
from workbench.engine.session import policy_packs
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, ensure

pytestmark = pytest.mark.engine

RECORDED = PROJECT_ROOT / "tests" / "upgrade" / "releases" / "v0.1.0" / "local-prod" / "state.json"
CANARY = "canary-3f9c2e"


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return ensure(TOOLS, hermetic=True)


def weakened(folder: Path) -> Path:
    """Return a state with two violations, a class and a node, and with a secret in a ConfigMap."""
    state = json.loads(RECORDED.read_text())
    for resource in state["deployment"]["resources"]:
        for props in (resource.get("inputs", {}), resource.get("outputs", {})):
            if resource["urn"].endswith("::igz-workload-high"):
                props["preemptionPolicy"] = "PreemptLowerPriority"
            if resource["urn"].endswith("::initial-0"):
                props["metadata"]["labels"]["app.iguazio.com/lifecycle"] = CANARY
            if resource["type"] == "kubernetes:core/v1:ConfigMap":
                props["data"] = {**props.get("data", {}), "PASSWORD": CANARY}
    file = folder / "state.json"
    file.write_text(json.dumps(state))
    return file


def said(verdicts: list[Verdict]) -> set[tuple[str, str]]:
    return {(verdict.rule, verdict.urn.rpartition("::")[2]) for verdict in verdicts if verdict.level == "mandatory"}


def test_a_bad_state_is_judged_by_both_packs_always_the_same(toolchain: Toolchain, tmp_path: Path) -> None:
    state = weakened(tmp_path)
    first = analyse(state, Environment.PROD, toolchain)
    assert said(first) >= {("PR-03", "igz-workload-high"), ("NG-23", "initial-0")}
    assert "[PR-03] igz-workload-high has preemption policy PreemptLowerPriority; expected Never." in str(first)
    assert analyse(state, Environment.PROD, toolchain) == first


@pytest.mark.kills
def test_twenty_times_the_same(toolchain: Toolchain, tmp_path: Path) -> None:
    state = weakened(tmp_path)
    first = analyse(state, Environment.PROD, toolchain)
    assert all(analyse(state, Environment.PROD, toolchain) == first for _ in range(19))


def test_no_value_of_data_is_printed(toolchain: Toolchain, tmp_path: Path) -> None:
    state = weakened(tmp_path)
    verdicts = analyse(state, Environment.DEV, toolchain)
    assert [verdict for verdict in verdicts if CANARY in verdict.message and verdict.rule != "NG-23"] == []


def test_the_environment_decides_the_levels(toolchain: Toolchain) -> None:
    by_name = {each: {v.rule for v in analyse(RECORDED, each, toolchain)} for each in Environment}
    assert "NG-06" not in by_name[Environment.DEV]


PACKS = {
    "hangs at its start": "import time\ntime.sleep(600)",
    "crashes at its start": "raise RuntimeError('no')",
    "exits at its start": "pass",
    "prints something else": "print('hello')\nimport time\ntime.sleep(600)",
    "hangs over a resource": "check = lambda *_: __import__('time').sleep(600)",
    "ends over a resource": "check = lambda *_: __import__('os')._exit(0)",
    "exits over a resource": "check = lambda *_: __import__('sys').exit(0)",
    "crashes over a resource": "check = lambda *_: 1 / 0",
}
SERVES = """
import io, sys
sys.path.insert(0, {root!r})
sys.stdout = io.TextIOWrapper(io.FileIO(sys.stdout.fileno(), "w", closefd=False), write_through=True)
import re
import pulumi_policy
from pulumi_policy import policy as internals
from policies import sdk, watchdog
from support.rules import a_rule
from policies.rule import EachOf
watchdog.time_limit.__wrapped__.__defaults__ = (2.0,)
internals._PolicyAnalyzerServicer = sdk.Servicer
scope = EachOf(noun="anything", types=re.compile(".*"), find=lambda resource: (resource,))
pulumi_policy.PolicyPack("bad", sdk.policies([a_rule(lambda *a: iter([check(*a)]), applies_to=scope)]))
"""


@pytest.mark.parametrize("behaviour", sampled(PACKS, ["crashes at its start", "hangs over a resource"]))
def test_a_pack_that_does_not_answer_never_passes_a_state(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    options = {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}
    definition = {"version": "0.1.0", "runtime": {"name": "python", "options": options}}
    (pack / "PulumiPolicy.yaml").write_text(yaml.safe_dump(definition))
    program = PACKS[behaviour]
    if "check =" in program:
        program += SERVES.format(root=str(PROJECT_ROOT / "tests"))
    (pack / "__main__.py").write_text(program)
    monkeypatch.setattr(policy_analysis, "policy_packs", lambda: [*policy_packs(), pack])
    monkeypatch.setattr(policy_analysis, "SECONDS", 12)
    try:
        verdicts = analyse(RECORDED, Environment.PROD, toolchain)
    except UserError as refused:
        assert "could not be evaluated" in str(refused) or "did not finish" in str(refused)
    else:
        assert [v for v in verdicts if v.level == "mandatory" and v.rule == "XX-01"], verdicts


OVERRIDES = """\
waivers:
  - rule: NG-17
    stack: mine
    resource: aws:eks/nodeGroup:NodeGroup::mine-legacy
    reason: goes with the migration
    owner: ml-platform
    ticket: OPS-1
    expires: {expires}
"""


@pytest.mark.parametrize(
    ("days", "passes", "said"),
    [
        pytest.param(
            30,
            True,
            "the waiver OPS-1 of ml-platform for aws:eks/nodeGroup:NodeGroup::mine-legacy covers no violation.",
            marks=pytest.mark.full,
        ),
        (-1, False, "the waiver OPS-1 of ml-platform for aws:eks/nodeGroup:NodeGroup::mine-legacy expired on "),
    ],
)
def test_the_engine_prints_what_is_wrong_with_a_waiver(tmp_path: Path, days: int, passes: bool, said: str) -> None:
    shutil.copy(PROJECT_ROOT / "Pulumi.dev.yaml", tmp_path / "Pulumi.mine.yaml")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "overrides.yaml").write_text(
        OVERRIDES.format(expires=datetime.now(tz=UTC).date() + timedelta(days=days))
    )
    command = [COMMAND, "-C", tmp_path, "preview", "mine", "--render", "--hermetic"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (result.returncode == 0) is passes, result.stdout + result.stderr
    assert said in " ".join(result.stdout.split())
