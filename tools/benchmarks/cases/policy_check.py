"""``igz-clusters policy check`` over checkov, the most used checker of its kind, on the same resources."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from policies.examples import Given
from tools.benchmarks.arena import Arena
from tools.benchmarks.estate import looked_at, manifests, multiplied, planned, state, terraform_plan
from tools.benchmarks.findings import Finding, ratios
from tools.benchmarks.measure import TIMEOUT_SECONDS, Command
from tools.benchmarks.pairs import Say, interleave
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.system.virtual_environments import interpreter

COPIES = (1, 6)
"""How often the stack stands in the estate: about 160 and 1,000 resources."""
ROUNDS = 3
REQUIREMENTS = Path(__file__).parent.parent / "checkov-requirements.txt"
NAME = "igz-clusters policy check / checkov"

OFFLINE: Final = {
    "BC_SKIP_MAPPING": "TRUE",
    "CKV_GITHUB_CONFIG_FETCH_DATA": "False",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}
"""Keeps checkov from asking its maker's servers; nothing listens at the proxy, should it try."""


@dataclass(frozen=True)
class Looked:
    """How much a checker looked at."""

    rules: int
    """Rules that looked at anything in the estate."""
    judgements: int
    """Pairs of a rule and what it looked at."""


def policy_check(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure both on an estate of two sizes, the whole command each; the smaller is mostly their start."""
    say("installing checkov, if it is not in the cache")
    try:
        checkov = interpreter(REQUIREMENTS).with_name("checkov")
    except UserError as error:
        # Without it the other cases still hold.
        say(str(error))
        return [Finding(NAME, {"not measured": error.message.partition("\n")[0]})]
    stack, findings = planned(arena), []
    for copies in COPIES:
        resources = multiplied(stack, copies)
        ours, theirs = _commands(resources, arena, checkov)
        say(f"{len(resources)} resources, counting checkov's rules")
        seen, counted = ours_looked(resources), _checkov_looked(theirs, resources)
        commands = {f"{len(resources)} resources": ours, f"{len(resources)} resources, checkov": theirs}
        # The smaller size warms the larger one up.
        own, floor = interleave(commands, rounds or ROUNDS, say, warm_up=copies == COPIES[0]).values()
        values = ratios(own, floor)
        values |= {
            "rules that look": f"{seen.rules} / {counted.rules}",
            "judgements": f"{seen.judgements} / {counted.judgements}",
        }
        findings.append(Finding(f"{len(resources)} resources: {NAME}", values))
    return findings


def ours_looked(resources: Sequence[Given]) -> Looked:
    """Return how much both packs check in the resources."""
    by_rule = looked_at(resources)
    return Looked(sum(map(bool, by_rule.values())), sum(by_rule.values()))


def checkov_looked(reports: Sequence[Any], resources: Sequence[Given]) -> Looked:
    """Return how much checkov looked at.

    Parameters
    ----------
    reports
        What it printed as JSON, a report for each kind of input.
    resources
        What it was given.

    Raises
    ------
    UserError
        It did not read all of it, so that a comparison would be none.
    """
    summaries = {report["check_type"]: report["summary"] for report in reports}
    clouds = sum(resource.type.startswith("aws:") for resource in resources)
    read = summaries.get("terraform_plan", {}).get("resource_count", 0)
    # It counts a controller's pods once more, so only too few objects show that some were not read.
    objects = summaries.get("kubernetes", {}).get("resource_count", 0)
    if (
        read != clouds
        or objects < len(resources) - clouds
        or any(each["parsing_errors"] for each in summaries.values())
    ):
        raise UserError(
            f"checkov read {read} of {clouds} AWS resources and {objects} of {len(resources) - clouds} objects."
        )
    judged = [
        check["check_id"]
        for report in reports
        for outcome in ("passed_checks", "failed_checks")
        for check in report["results"][outcome]
    ]
    return Looked(len(set(judged)), len(judged))


def _commands(resources: Sequence[Given], arena: Arena, checkov: Path) -> tuple[Command, Command]:
    folder = arena.folder / f"policy-check-{len(resources)}"
    (folder / "input").mkdir(parents=True)
    exported = folder / "state.json"
    exported.write_text(json.dumps(state(resources)))
    (folder / "input" / "plan.json").write_text(json.dumps(terraform_plan(resources)))
    (folder / "input" / "objects.yaml").write_text(yaml.safe_dump_all(manifests(resources)))
    program = str(Path(sys.executable).with_name("igz-clusters"))
    ours = (program, "policy", "check", str(exported))
    frameworks = ("--framework", "terraform_plan", "kubernetes")
    theirs = (str(checkov), "--directory", "input", *frameworks, "--skip-download", "--soft-fail", "--compact")
    return (
        Command(ours, PROJECT_ROOT, arena.environment, verdict=r"\d+ rules, judged as prod: "),
        Command((*theirs, "--quiet"), folder, {**arena.environment, **OFFLINE}),
    )


def _checkov_looked(theirs: Command, resources: Sequence[Given]) -> Looked:
    arguments = [argument for argument in theirs.arguments if argument != "--quiet"]  # it leaves out what passed
    try:
        run = subprocess.run(
            [*arguments, "--output", "json"],
            cwd=theirs.folder,
            env=theirs.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        # A checker that crashes in one of its processes waits for the other for ever (3.3.30).
        raise UserError(f"checkov did not come to an end within {TIMEOUT_SECONDS:.0f} s.") from None
    try:
        return checkov_looked(json.loads(run.stdout), resources)
    except (ValueError, KeyError, TypeError):
        raise UserError(f"checkov failed with exit code {run.returncode}:\n{run.stderr.strip()[-2000:]}") from None
