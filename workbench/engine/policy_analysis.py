"""Evaluates both policy packs on an exported state, without login, program or cloud."""

import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from components.contract.environments import Environment
from policies.registry import RULES
from workbench.engine.session import policy_packs
from workbench.stacks.policy_overrides import policy_entry
from workbench.system import temporary
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain, without_logs

TOOLS: Final = ("pulumi",)
SECONDS: Final = 600
"""Timeout for one state; the engine itself would wait forever for a pack that hangs."""


@dataclass(frozen=True, order=True)
class Verdict:
    """A rule's violation by one resource of the state, or by the whole stack."""

    level: str
    """``mandatory`` or ``advisory``."""
    rule: str
    urn: str
    """Empty for the whole stack."""
    message: str


def analyse(state: Path, environment: Environment, toolchain: Toolchain) -> list[Verdict]:
    """Return the violations in an exported state, mandatory ones first.

    Parameters
    ----------
    state
        File written by ``pulumi stack export``.
    environment
        Environment whose enforcement levels apply; a state does not contain it.
    toolchain
        Must hold ``TOOLS``.

    Raises
    ------
    UserError
        The file is not an exported state, or it could not be evaluated completely.
    """
    _require_state(state)
    packs = policy_packs()
    with temporary.folder("policy") as (folder, _):
        config = Path(folder) / "policies.json"
        judged_as = {rule.name: policy_entry(rule, environment=environment.value) for rule in RULES}
        config.write_text(json.dumps(judged_as))
        attached = [
            word for pack in packs for word in ("--policy-pack", str(pack), "--policy-pack-config", str(config))
        ]
        command = [str(toolchain.pulumi), "policy", "analyze", "--file", str(state.resolve()), *attached, "--json"]
        result = _run([*command, "--non-interactive"], _environment(Path(folder), toolchain))
    events = list(_events(result.stdout))
    verdicts = sorted((_verdict(event["policyEvent"]) for event in events if "policyEvent" in event), reverse=True)
    judged = {name for event in events for name in (event.get("summaryEvent", {}).get("PolicyPacks") or {})}
    failed = result.returncode != 0 and not any(verdict.level == "mandatory" for verdict in verdicts)
    if failed or len(judged) != len(packs):
        raise UserError(f"The state could not be evaluated:\n{(result.stderr or result.stdout).strip()[-2000:]}")
    return verdicts


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as engine:
        try:
            stdout, stderr = engine.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            # Its children hold the pipes and would outlive it.
            parent = psutil.Process(engine.pid)
            for process in [*parent.children(recursive=True), parent]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            raise UserError(f"The policy packs did not finish within {SECONDS} s.") from None
    return subprocess.CompletedProcess(command, engine.returncode, stdout, stderr)


def _environment(folder: Path, toolchain: Toolchain) -> dict[str, str]:
    """Return an environment without the user's login; the engine hangs with an empty one."""
    return {
        "PATH": os.pathsep.join([str(toolchain.pulumi.parent), str(Path(sys.executable).parent), os.defpath]),
        "HOME": str(folder),
        "PULUMI_HOME": str(without_logs(folder / "pulumi")),
        "PULUMI_BACKEND_URL": f"file://{folder}",
        "PULUMI_CONFIG_PASSPHRASE": secrets.token_urlsafe(),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "IGZ_CLUSTERS_POLICY_UNKNOWN": "fail",
    }


def _require_state(file: Path) -> None:
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise UserError(f"{file}: invalid JSON.", _EXPORT) from None
    deployment = state.get("deployment") if isinstance(state, dict) else None
    if not isinstance(deployment, dict) or not isinstance(deployment.get("resources", []), list):
        raise UserError(f"{file}: not an exported state: the key deployment.resources is missing.", _EXPORT)


_EXPORT = "Create one with `pulumi stack export --file state.json`."


def _events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue  # plain text between the events; missing events show in the summary
        if isinstance(event, dict):
            yield event


def _verdict(event: dict[str, Any]) -> Verdict:
    message = re.sub(r"<\{%[^%]*%\}>", "", event["message"]).strip()  # the engine's colour codes
    rule = re.search(r"\[([A-Z]{2}-\d\d)\]", message)
    return Verdict(
        level=event["enforcementLevel"],
        rule=rule[1] if rule else event["policyName"],
        urn=event.get("resourceUrn", ""),
        message=message[rule.start() :] if rule else message,
    )
