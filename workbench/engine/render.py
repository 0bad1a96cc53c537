"""Offline previews: no account, cluster or network; nothing is kept."""

import json
import os
import secrets
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import yaml
from typing_extensions import override

from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE, ClusterInventory
from components.contract.policy_guard import ATTACHED, GUARD_VARIABLE
from components.stack_files import yaml_source
from infra.config import CONFIG_KEY
from workbench.engine.inputs import Inputs
from workbench.engine.session import Session, policy_packs
from workbench.offline.clouds import CLOUDS
from workbench.offline.journal import JOURNAL
from workbench.report.events import RENDERED
from workbench.stacks import Stack, policy_overrides
from workbench.stacks.policy_overrides import attaching, detached
from workbench.system import temporary
from workbench.system.paths import PRIVATE, PROJECT_ROOT
from workbench.toolchain import Toolchain, without_logs
from workbench.toolchain.recipes import PROVIDER_VERSION as KUBERNETES_VERSION

TOOLS: Final = ("pulumi", "pulumi-resource-kubernetes")
"""Programs that a render needs."""

LABEL: Final = (
    "Rendered offline from an empty state, not compared with the live stack. Cloud calls go to a built-in stand-in "
    "based on a dated provider snapshot."
)

PASSED_ON: Final = frozenset({"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "NO_COLOR", "COLUMNS", "CI"})
"""The only variables of the caller that a render sees; no credentials, kubeconfig or home."""

PASSED_ON_PREFIX: Final = "IGZ_CLUSTERS_POLICY_"
"""Prefix of the variables that configure the policy packs, such as for unknown values."""

NO_CHECKPOINTS: Final = {"PULUMI_SKIP_CHECKPOINTS": "true", "PULUMI_EXPERIMENTAL": "true"}
"""Variables that make the engine save the state at the end only, and not after each resource.

The first takes effect only with the second. Use them only where the state of a killed run is not needed.
"""

SALT: Final = "encryptionsalt"
"""Key of the passphrase's salt in the engine's stack file."""

NO_CLUSTER: Final = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "none", "cluster": {"server": "https://127.0.0.1:1"}}],
    "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
    "users": [{"name": "none", "user": {}}],
    "current-context": "none",
}
"""A kubeconfig with an address at which no server can listen."""


@dataclass(frozen=True)
class ValueCounts:
    """Numbers of input values that were validated, that are unknown yet, and that no model covers."""

    judged: int = 0
    unknown: int = 0
    unmodelled: int = 0


@dataclass(frozen=True)
class JournalSummary:
    """The journal of the offline plug-ins for one run, summarised.

    Parameters
    ----------
    values
        Value counts by cloud package.
    refused
        Calls that would have needed a cloud, as text.
    """

    values: Mapping[str, ValueCounts]
    refused: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """The summary as text lines."""
        values = [
            f"Values of {CLOUDS[package].name} inputs: {found.judged} validated by {CLOUDS[package].judge}, "
            f"{found.unknown} not known yet, {found.unmodelled} covered by no model ({CLOUDS[package].page})."
            for package, found in self.values.items()
            if found.judged
        ]
        calls = f"Calls that need a cloud: {len(self.refused)}."
        return [*values, calls, *(f"  refused: {call}" for call in self.refused)]


@dataclass(frozen=True, kw_only=True)
class OfflineSession(Session):
    """A session with an empty state, isolated from the caller's cloud credentials."""

    journal: Path

    @property
    def summary(self) -> JournalSummary:
        """Summary of the plug-ins' journal so far."""
        lines = self.journal.read_text(encoding="utf-8").splitlines() if self.journal.exists() else []
        events = [json.loads(line) for line in lines]
        figures = {package: Counter[str]() for package in CLOUDS}
        for event in (each for each in events if each["provider"] in CLOUDS):
            figures[event["provider"]].update({key: value for key, value in event.items() if isinstance(value, int)})
        refused = tuple(f"{e['subject']} {e['what']}" for e in events if e["event"] == "refused")
        return JournalSummary({package: ValueCounts(**found) for package, found in figures.items() if found}, refused)

    @override
    def whole_environment(self) -> dict[str, str]:
        return {**passed_on(), **self.environment}

    def with_noop_providers(self) -> "OfflineSession":
        """Return the same session with no-op providers and without packs."""
        return replace(self, environment=with_noop_providers(self.environment))


@contextmanager
def rendering(stack: Stack, toolchain: Toolchain) -> Iterator[OfflineSession]:
    """Yield a session whose ``preview`` renders ``stack``; deletes all of its files afterwards.

    Parameters
    ----------
    toolchain
        Must hold ``TOOLS``.
    """
    with temporary.folder("render") as (folder, _):
        yield _session(stack, toolchain, Path(folder))


def _session(stack: Stack, toolchain: Toolchain, folder: Path) -> OfflineSession:
    environment = offline(stack.name, stack.document["config"][CONFIG_KEY], toolchain, folder)
    inputs = Inputs(overrides=policy_overrides.read())
    packs = attaching(policy_packs(), inputs.overrides.configuration(stack.name), folder / "policies.json")
    journal = Path(environment[JOURNAL])
    session = OfflineSession(stack, toolchain.pulumi, {**environment, **packs}, inputs=inputs, journal=journal)
    session.query("stack", "init", stack.name, "--no-select", folder=project_of(folder))
    return session


def offline(stack: str, choices: Any, toolchain: Toolchain, folder: Path) -> dict[str, str]:
    """Prepare a home, a backend and a stack file in ``folder``; return the engine's variables for them.

    The caller creates the stack with ``stack init`` in ``project_of(folder)``. No pack is attached. The engine must be
    run with only these variables and ``passed_on()``.

    Parameters
    ----------
    stack
        Its name.
    choices
        The content of its file under ``CONFIG_KEY``. The rest of the file is ignored: a user's secrets provider would
        not be reachable.
    toolchain
        Must hold ``TOOLS``.
    """
    home, state, project = folder / "pulumi", folder / "state", project_of(folder)
    for each in (home, state, project):
        each.mkdir(mode=PRIVATE)
    without_logs(home)
    for package, stand in CLOUDS.items():
        install(home, package, stand.version, sys.executable, "-m", stand.module)
    install(home, "kubernetes", KUBERNETES_VERSION, str(toolchain.path("pulumi-resource-kubernetes")))
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(NO_CLUSTER))
    sighting = folder / "sighting"
    sighting.write_text(_unseen(choices).to_json())
    config = project / f"Pulumi.{stack}.yaml"
    choose(config, {CONFIG_KEY: choices, RENDERED: "true"})
    # `stack init` ignores the option and writes next to the project file of its folder.
    (project / "Pulumi.yaml").write_text((PROJECT_ROOT / "Pulumi.yaml").read_text())
    return {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        # The language host is in the same folder for both the user's and our Pulumi.
        "PATH": os.pathsep.join([str(toolchain.pulumi.parent), os.environ.get("PATH", os.defpath)]),
        "PULUMI_HOME": str(home),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        **NO_CHECKPOINTS,
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_BACKEND_URL": f"file://{state}",
        "PULUMI_CONFIG_PASSPHRASE": secrets.token_urlsafe(32),
        "PULUMI_STACK": stack,
        "PULUMI_OPTION_CONFIG_FILE": str(config),
        "KUBECONFIG": str(kubeconfig),
        "IGZ_CLUSTERS_LOCAL_KUBECONFIG": str(kubeconfig),
        INVENTORY_VARIABLE: str(sighting),
        JOURNAL: str(folder / "journal"),
    }


def _unseen(choices: Any) -> ClusterInventory:
    """Return the inventory of a cluster that was not inspected: no nodes, nothing to adopt."""
    cluster = choices.get("cluster") if isinstance(choices, Mapping) else None
    return ClusterInventory(str(cluster.get("clusterId", "")) if isinstance(cluster, Mapping) else "")


def passed_on() -> dict[str, str]:
    """Return the caller's variables that an offline run may see."""
    return {k: v for k, v in os.environ.items() if k in PASSED_ON or k.startswith(PASSED_ON_PREFIX)}


def project_of(folder: Path) -> Path:
    """Return the folder of the project file and the stack file inside the folder of ``offline``."""
    return folder / "project"


def choose(file: Path, config: Mapping[str, Any]) -> None:
    """Write the configuration to the engine's stack file, keeping the passphrase's salt."""
    kept = yaml.safe_load(file.read_text()) if file.exists() else None
    salt = {key: value for key, value in (kept or {}).items() if key == SALT}
    file.write_text(yaml_source.written({**salt, "config": dict(config)}))


def with_noop_providers(environment: Mapping[str, str], python: Path = Path(sys.executable)) -> dict[str, str]:
    """Install no-op plug-ins for all clouds; return the environment that uses them.

    Packs are detached and not required, since nothing real can be lost.

    Parameters
    ----------
    environment
        Environment from ``offline``.
    python
        Interpreter that imports the package whose facts apply. Default: this one.
    """
    versions = {package: stand.version for package, stand in CLOUDS.items()}
    for package, version in {**versions, "kubernetes": KUBERNETES_VERSION}.items():
        # Without `-P` the working directory, which may be another checkout, would be imported first.
        command = (str(python), "-P", "-m", "workbench.offline.noop_providers", package)
        install(Path(environment["PULUMI_HOME"]), package, version, *command)
    return {**detached(environment), GUARD_VARIABLE: ATTACHED}


def install(home: Path, package: str, version: str, *command: str) -> None:
    """Install a plug-in for the engine as a one-line script, without copying or downloading.

    Parameters
    ----------
    home
        The ``PULUMI_HOME``.
    package, version
        Package such as ``aws``, and the release that the program requires.
    command
        Program and arguments that serve it; the engine appends its own.
    """
    plugin = home / "plugins" / f"resource-{package}-v{version}" / f"pulumi-resource-{package}"
    plugin.parent.mkdir(parents=True, exist_ok=True)
    plugin.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    plugin.chmod(PRIVATE)
