"""Event streams of the real engine, for the tests of reports.

``python -m support.streams --write``, with ``tests`` on the path, records them again in
``tests/workbench/report/streams``.
The clouds in them are simulated; everything else is as the engine wrote it, without this machine's paths.
"""

import json
import lzma
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from infra.config import parse
from policies.waivers import today
from support.edits import Changes
from support.eks import document
from workbench import stacks
from workbench.engine.render import TOOLS, OfflineSession, rendering
from workbench.engine.session import policy_packs
from workbench.stacks import CONFIG_KEY, Stack
from workbench.stacks.policy_overrides import attaching, pack_configuration
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import ensure

FOLDER: Final = PROJECT_ROOT / "tests" / "workbench" / "report" / "streams"
NAME: Final = "prod"

SMALL: Final[Changes] = {
    "environment": "prod",
    "cluster.zones": ["a", "b"],
    "pools.initial.size": {"min": 2, "max": 2},
    **dict.fromkeys(("pools.arm", "pools.jupyter", "pools.gpu", "pools.data")),
}
"""A small production stack: an initial group, one that grows, and one of spot instances."""

LARGER: Final[Changes] = {"pools.workload.size.max": 12, "pools.spot.labels": {"example.com/team": "other"}}
RENAMED: Final[Changes] = {"cluster.name": "other"}
TOO_LARGE: Final[Changes] = {"pools.workload.size.max": 200}

WAIVER: Final = """\
waivers:
  - rule: NG-11
    stack: prod
    resource: aws:eks/nodeGroup:NodeGroup::prod-workload
    reason: load test of the new scorer
    owner: ml-platform
    ticket: OPS-1234
    expires: {expires}
"""

CANARIES: Final = tuple(f"canary-{place}" for place in ("marked", "data", "variable", "boot", "token", "kubeconfig"))
"""Values of the program below that must never be shown, each with ``-old`` or ``-new`` behind it."""

PROGRAM: Final = """
import base64
import pulumi, pulumi_aws as aws, pulumi_kubernetes as k8s

when = pulumi.Config().require("when")
marked, data, variable, boot, token, kubeconfig = (f"{word}-{when}" for word in CANARIES)
k8s.core.v1.Secret("password", metadata={"name": "password"}, string_data={"PASSWORD": data})
k8s.core.v1.ConfigMap(
    "settings", metadata={"name": "settings", "annotations": {"when": when}},
    data={"marked": pulumi.Output.secret(marked), "clear": data},
)
k8s.core.v1.Pod(
    "server", metadata={"name": "server", "annotations": {"example.com/token": token}},
    spec={"containers": [{"name": "a", "image": f"a:{when}", "env": [{"name": "LEVEL", "value": variable}]}]},
)
aws.ec2.LaunchTemplate(
    "template",
    user_data=base64.b64encode(boot.encode()).decode(),
    tags={"when": when, "marked": pulumi.Output.secret(marked)},
    description=f"users: [{{user: {{token: {kubeconfig}}}}}]",
)
"""


@dataclass(frozen=True)
class Recorder:
    """Records runs of one stack with a simulated cloud."""

    session: OfflineSession
    packs: dict[str, str]
    """The variables that attach both packs."""

    def record(self, name: str, command: str, changes: Changes | None = None, **variables: str) -> None:
        """Run ``command`` of the engine on the stack with ``changes``, as it is without, and keep its events."""
        with self._started(command, {**self.packs, **variables}, changes) as (process, log):
            process.wait(timeout=600)
            keep(name, log.read_bytes(), Path(self.session.environment["HOME"]))

    def record_killed(self, name: str, changes: Changes) -> None:
        """Keep the events of a preview whose engine is killed in the middle."""
        with self._started("preview", self.packs, changes) as (process, log):
            while not log.exists() or log.read_bytes().count(b"policyAnalyzeSummaryEvent") < 50:
                time.sleep(0.01)
            process.kill()
            process.wait()
            keep(name, log.read_bytes(), Path(self.session.environment["HOME"]))

    @contextmanager
    def _started(
        self, command: str, variables: dict[str, str], changes: Changes | None
    ) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
        config = Path(self.session.environment["PULUMI_OPTION_CONFIG_FILE"])
        if changes is not None:
            salt = {k: v for k, v in yaml.safe_load(config.read_text()).items() if k == "encryptionsalt"}
            choices = document({**SMALL, **changes})
            config.write_text(yaml.safe_dump({**salt, "config": {CONFIG_KEY: choices}}, sort_keys=False))
        log = config.with_name("events.jsonl")
        log.unlink(missing_ok=True)
        with subprocess.Popen(
            [self.session.pulumi, *command.split(), "--event-log", str(log), "--non-interactive", "--color", "never"],
            cwd=PROJECT_ROOT,
            env=environment(self.session, variables),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            yield process, log

    def unprotect(self) -> None:
        """Take the protection from everything in the state, so that a plan is whole."""
        state = self.session.query("stack", "export")
        for resource in state["deployment"]["resources"]:
            resource.pop("protect", None)
        subprocess.run(
            [self.session.pulumi, "stack", "import", "--non-interactive"],
            cwd=PROJECT_ROOT,
            env=environment(self.session, {}),
            input=json.dumps(state).encode(),
            stdout=subprocess.DEVNULL,
            check=True,
        )


def environment(session: OfflineSession, variables: dict[str, str]) -> dict[str, str]:
    own = {"PULUMI_DEBUG_COMMANDS": "true", "IGZ_CLUSTERS_POLICY_UNKNOWN": "fail"}
    return {"PATH": os.environ["PATH"], **session.environment, **own, **variables}


def keep(name: str, events: bytes, scratch: Path) -> None:
    """Write a stream without the paths of this machine."""
    portable = events
    for folder, stands_for_it in {
        PROJECT_ROOT: "/checkout",
        scratch: "/scratch",
        Path(sys.base_prefix): "/python",
    }.items():
        portable = portable.replace(str(folder).encode(), stands_for_it.encode())
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.jsonl.xz").write_bytes(lzma.compress(portable, preset=9 | lzma.PRESET_EXTREME))


@cache
def stream(name: str) -> bytes:
    """Return a recorded stream."""
    return lzma.decompress((FOLDER / f"{name}.jsonl.xz").read_bytes())


@contextmanager
def recorder() -> Iterator[Recorder]:
    choices = document(SMALL)
    file = PROJECT_ROOT / "Pulumi.prod.yaml"
    stack = Stack(NAME, file, {"config": {CONFIG_KEY: choices}}, parse(choices))
    with rendering(stack, ensure(TOOLS, hermetic=True)) as session:
        packs = attaching(policy_packs(), pack_configuration(NAME), Path(session.environment["HOME"], "packs.json"))
        recorded = Recorder(session, packs)
        recorded.record("first", "preview")
        recorded = replace(recorded, session=session.with_noop_providers())
        recorded.record("made", "up --yes --skip-preview", {})
        yield recorded


def waived(folder: Path) -> dict[str, str]:
    """Return the variables that attach both packs with a waiver."""
    (folder / "policies").mkdir()
    (folder / "Pulumi.prod.yaml").write_text((PROJECT_ROOT / "Pulumi.prod.yaml").read_text())
    (folder / "policies" / "overrides.yaml").write_text(WAIVER.format(expires=today() + timedelta(days=30)))
    os.environ[stacks.FOLDER_VARIABLE] = str(folder)
    try:
        return attaching(policy_packs(), pack_configuration(NAME), folder / "packs.json")
    finally:
        del os.environ[stacks.FOLDER_VARIABLE]


def record_secrets(session: OfflineSession, folder: Path) -> None:
    """Record what a program of its own, with secrets in all places, comes to when they all change."""
    options: dict[str, Any] = {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}
    project = {"name": "igz-clusters", "runtime": {"name": "python", "options": options}}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
    (folder / "__main__.py").write_text(f"CANARIES = {CANARIES!r}\n{PROGRAM}")
    config, log = folder / "Pulumi.secrets.yaml", folder / "events.jsonl"
    own = {"PULUMI_STACK": "secrets", "PULUMI_OPTION_CONFIG_FILE": str(config)}
    for when, command in {"old": "up --yes --skip-preview", "new": "preview"}.items():
        salt = yaml.safe_load(config.read_text()) if config.exists() else {}
        config.write_text(yaml.safe_dump({**salt, "config": {"igz-clusters:when": when}}))
        if when == "old":
            session.query("stack", "init", "secrets", "--no-select", folder=folder)
        log.unlink(missing_ok=True)
        done = subprocess.run(
            [session.pulumi, *command.split(), "--event-log", str(log), "--non-interactive"],
            cwd=folder,
            env=environment(session, own),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    keep("secrets", log.read_bytes(), folder)


def main() -> None:
    with recorder() as stack, TemporaryDirectory() as folder:
        first, one_pack = Path(folder, "first"), {k: v.split(",")[0] for k, v in stack.packs.items()}
        first.mkdir()
        stack.record("unchanged", "preview", {})
        stack.record("larger", "preview", LARGER)
        stack.record("violating", "preview", TOO_LARGE)
        stack.record("waived", "preview", TOO_LARGE, **waived(first))
        stack.record("refused", "preview", RENAMED)
        stack.record("broken", "preview", {"schemaVersion": 7})
        stack.record("unjudged", "preview", LARGER, **dict.fromkeys(stack.packs, ""))
        stack.record("one-pack", "preview", LARGER, **one_pack)
        stack.record_killed("killed", LARGER)
        stack.unprotect()
        stack.record("replaced", "preview", RENAMED)
        stack.record("grown", "up --yes --skip-preview", LARGER)
        stack.record("drift", "refresh --preview-only", **dict.fromkeys(stack.packs, ""))
        stack.record("destroyed", "destroy --preview-only")
        (secrets := Path(folder, "secrets")).mkdir()
        record_secrets(stack.session, secrets)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m support.streams --write")
    main()
