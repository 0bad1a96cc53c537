"""Both packs over an exported state: no login, no program, no cloud."""

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
from tempfile import TemporaryDirectory
from typing import Any, Final

import psutil

from components.contract.environments import Environment
from policies.registry import RULES
from workbench.engine.session import policy_packs
from workbench.stacks.policy_overrides import policy_entry
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain

TOOLS: Final = ("pulumi",)
SECONDS: Final = 600
"""Longest time for one state. The engine itself would wait for ever for a pack that hangs."""


@dataclass(frozen=True, order=True)
class Verdict:
    """What a rule says about one resource of the state, or about all of it."""

    level: str
    """``mandatory`` or ``advisory``."""
    rule: str
    urn: str
    """Empty for the whole stack."""
    message: str


def analyse(state: Path, environment: Environment, toolchain: Toolchain) -> list[Verdict]:
    """Return what the rules say about the state in ``state``, mandatory violations first.

    Parameters
    ----------
    state
        What ``pulumi stack export`` wrote.
    environment
        By whose levels it is judged: a state does not say what its cluster is for.
    toolchain
        Must hold ``TOOLS``.

    Raises
    ------
    UserError
        The file is no state, or it could not be judged whole.
    """
    _refuse_what_is_no_state(state)
    packs = policy_packs()
    with TemporaryDirectory(prefix="igz-clusters-policy-") as folder:
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
        raise UserError(f"The state could not be judged:\n{(result.stderr or result.stdout).strip()[-2000:]}")
    return verdicts


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as engine:
        try:
            printed, said = engine.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            # What it started holds its pipes, and would outlive it.
            parent = psutil.Process(engine.pid)
            for process in [*parent.children(recursive=True), parent]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            raise UserError(f"The packs did not come to an end within {SECONDS} s.") from None
    return subprocess.CompletedProcess(command, engine.returncode, printed, said)


def _environment(folder: Path, toolchain: Toolchain) -> dict[str, str]:
    """Return variables of its own: the engine hangs without any, and must find no login of the user's."""
    return {
        "PATH": os.pathsep.join([str(toolchain.pulumi.parent), str(Path(sys.executable).parent), os.defpath]),
        "HOME": str(folder),
        "PULUMI_HOME": str(folder / "pulumi"),
        "PULUMI_BACKEND_URL": f"file://{folder}",
        "PULUMI_CONFIG_PASSPHRASE": secrets.token_urlsafe(),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "IGZ_CLUSTERS_POLICY_UNKNOWN": "fail",
    }


def _refuse_what_is_no_state(file: Path) -> None:
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise UserError(f"{file}: is no JSON.", _EXPORT) from None
    deployment = state.get("deployment") if isinstance(state, dict) else None
    if not isinstance(deployment, dict) or not isinstance(deployment.get("resources", []), list):
        raise UserError(f"{file}: is no exported state: it has no deployment with resources.", _EXPORT)


_EXPORT = "`pulumi stack export --file state.json` writes one."


def _events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue  # a note between the events; what is missing shows in the summary
        if isinstance(event, dict):
            yield event


def _verdict(event: dict[str, Any]) -> Verdict:
    message = re.sub(r"<\{%[^%]*%\}>", "", event["message"]).strip()  # the engine's marks for colours
    found = re.search(r"\[([A-Z]{2}-\d\d)\]", message)
    return Verdict(
        level=event["enforcementLevel"],
        rule=found[1] if found else event["policyName"],
        urn=event.get("resourceUrn", ""),
        message=message[found.start() :] if found else message,
    )
