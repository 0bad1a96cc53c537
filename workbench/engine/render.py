"""A preview without an account, a cluster or a network, of which nothing is kept."""

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
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml
from typing_extensions import override

from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE, ClusterInventory
from components.contract.policy_guard import ATTACHED, GUARD_VARIABLE
from infra.config import CONFIG_KEY
from workbench.engine.session import Session, policy_packs
from workbench.offline.clouds import CLOUDS
from workbench.offline.journal import JOURNAL
from workbench.report.events import RENDERED
from workbench.stacks import Stack
from workbench.stacks.policy_overrides import attached, detached
from workbench.system.paths import PRIVATE, PROJECT_ROOT
from workbench.toolchain import Toolchain
from workbench.toolchain.recipes import PROVIDER_VERSION as KUBERNETES_VERSION

TOOLS: Final = ("pulumi", "pulumi-resource-kubernetes")
"""What a render needs of the toolchain."""

LABEL: Final = (
    "Rendered offline, from an empty state: not compared with the live stack. In the cloud's place stands a plug-in of "
    "our own, by dated facts of the real one."
)

PASSED_ON: Final = frozenset({"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "NO_COLOR", "COLUMNS", "CI"})
"""Variables of the caller that a render sees. No other: no credentials, no kubeconfig, no home."""

PASSED_ON_PREFIX: Final = "IGZ_CLUSTERS_POLICY_"
"""How the policy packs shall treat doubt is the caller's choice too."""

SALT: Final = "encryptionsalt"
"""Key of the engine's stack file under which it keeps the salt of the passphrase."""

NO_CLUSTER: Final = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "none", "cluster": {"server": "https://127.0.0.1:1"}}],
    "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
    "users": [{"name": "none", "user": {}}],
    "current-context": "none",
}
"""A kubeconfig at whose address nothing can listen."""


@dataclass(frozen=True)
class Values:
    """How many values of inputs a model judged, are not known yet, and are covered by no model."""

    judged: int = 0
    unknown: int = 0
    unmodelled: int = 0


@dataclass(frozen=True)
class Tally:
    """What the offline plug-ins noted during one run.

    Parameters
    ----------
    values
        By package of the cloud.
    refused
        Calls that would have needed a cloud, one text each.
    """

    values: Mapping[str, Values]
    refused: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """The figures in words."""
        values = [
            f"Values of {CLOUDS[package].name} inputs: {found.judged} judged by {CLOUDS[package].judge}, "
            f"{found.unknown} not known yet, {found.unmodelled} covered by no model ({CLOUDS[package].page})."
            for package, found in self.values.items()
            if found.judged
        ]
        calls = f"Calls that need a cloud: {len(self.refused)}."
        return [*values, calls, *(f"  refused: {call}" for call in self.refused)]


@dataclass(frozen=True, kw_only=True)
class OfflineSession(Session):
    """A session with an empty state, in an environment that holds nothing of the caller's clouds."""

    journal: Path

    @property
    def tally(self) -> Tally:
        """What the plug-ins have noted so far."""
        lines = self.journal.read_text(encoding="utf-8").splitlines() if self.journal.exists() else []
        events = [json.loads(line) for line in lines]
        figures = {package: Counter[str]() for package in CLOUDS}
        for event in (each for each in events if each["provider"] in CLOUDS):
            figures[event["provider"]].update({key: value for key, value in event.items() if isinstance(value, int)})
        refused = tuple(f"{e['subject']} {e['what']}" for e in events if e["event"] == "refused")
        return Tally({package: Values(**found) for package, found in figures.items() if found}, refused)

    @override
    def whole_environment(self) -> dict[str, str]:
        return {**passed_on(), **self.environment}

    def pretending(self) -> "OfflineSession":
        """Return the same session with clouds that say they do what they are told, and no packs."""
        return replace(self, environment=pretending(self.environment))


@contextmanager
def rendering(stack: Stack, toolchain: Toolchain) -> Iterator[OfflineSession]:
    """Give a session whose ``preview`` renders ``stack``; everything that it wrote is gone afterwards.

    Parameters
    ----------
    toolchain
        Must hold ``TOOLS``.
    """
    with TemporaryDirectory(prefix="igz-clusters-render-") as folder:
        yield _session(stack, toolchain, Path(folder))


def _session(stack: Stack, toolchain: Toolchain, folder: Path) -> OfflineSession:
    environment = offline(stack.name, stack.document["config"][CONFIG_KEY], toolchain, folder)
    packs = attached(stack.name, policy_packs(), folder)
    session = OfflineSession(stack, toolchain.pulumi, {**environment, **packs}, journal=Path(environment[JOURNAL]))
    session.query("stack", "init", stack.name, "--no-select", folder=project_of(folder))
    return session


def offline(stack: str, choices: Any, toolchain: Toolchain, folder: Path) -> dict[str, str]:
    """Prepare a home, a backend and a stack file in ``folder``; return the variables by which the engine uses them.

    The stack is still to be made, by ``stack init`` in ``project_of(folder)``; no pack is attached. The engine must see
    these and ``passed_on()``, and nothing else.

    Parameters
    ----------
    stack
        Its name.
    choices
        What its file says under ``CONFIG_KEY``. Nothing else of the file is used: a user's own secrets provider could
        not be asked.
    toolchain
        Must hold ``TOOLS``.
    """
    home, state, project = folder / "pulumi", folder / "state", project_of(folder)
    for each in (home, state, project):
        each.mkdir(mode=PRIVATE)
    for package, stand in CLOUDS.items():
        install(home, package, stand.version, sys.executable, "-m", stand.module)
    install(home, "kubernetes", KUBERNETES_VERSION, str(toolchain.path("pulumi-resource-kubernetes")))
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(NO_CLUSTER))
    sighting = folder / "sighting"
    sighting.write_text(_unseen(choices).to_json())
    config = project / f"Pulumi.{stack}.yaml"
    choose(config, {CONFIG_KEY: choices, RENDERED: "true"})
    # `stack init` writes beside the project file of its folder, whatever the option says.
    (project / "Pulumi.yaml").write_text((PROJECT_ROOT / "Pulumi.yaml").read_text())
    return {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        # The language host lies in the same folder, whoever's Pulumi it is.
        "PATH": os.pathsep.join([str(toolchain.pulumi.parent), os.environ.get("PATH", os.defpath)]),
        "PULUMI_HOME": str(home),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
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
    """Return what is seen of a cluster at which nobody looked: none of its nodes, and nothing to adopt."""
    cluster = choices.get("cluster") if isinstance(choices, Mapping) else None
    return ClusterInventory(str(cluster.get("clusterId", "")) if isinstance(cluster, Mapping) else "")


def passed_on() -> dict[str, str]:
    """Return those of the caller's variables that a run without an account may see."""
    return {k: v for k, v in os.environ.items() if k in PASSED_ON or k.startswith(PASSED_ON_PREFIX)}


def project_of(folder: Path) -> Path:
    """Return where in the folder of ``offline`` the project file and the stack file lie."""
    return folder / "project"


def choose(file: Path, config: Mapping[str, Any]) -> None:
    """Write the configuration into the engine's stack file, beside the salt of the passphrase if it holds one."""
    kept = yaml.safe_load(file.read_text()) if file.exists() else None
    salt = {key: value for key, value in (kept or {}).items() if key == SALT}
    file.write_text(yaml.safe_dump({**salt, "config": dict(config)}, sort_keys=False))


def pretending(environment: Mapping[str, str], python: Path = Path(sys.executable)) -> dict[str, str]:
    """Put plug-ins in the place of the clouds that say they do what they are told; return the variables for that.

    No pack is attached in them, nor in the way: nothing real can be lost.

    Parameters
    ----------
    environment
        From ``offline``.
    python
        Interpreter that imports the package whose facts hold. Default: this one.
    """
    versions = {package: stand.version for package, stand in CLOUDS.items()}
    for package, version in {**versions, "kubernetes": KUBERNETES_VERSION}.items():
        # Without `-P` the folder that the engine starts it in would come first, and may be another checkout.
        command = (str(python), "-P", "-m", "workbench.offline.noop_providers", package)
        install(Path(environment["PULUMI_HOME"]), package, version, *command)
    return {**detached(environment), GUARD_VARIABLE: ATTACHED}


def install(home: Path, package: str, version: str, *command: str) -> None:
    """Put a plug-in where the engine looks for it, as a script of one line: nothing is copied or downloaded.

    Parameters
    ----------
    home
        The ``PULUMI_HOME``.
    package, version
        What it is the plug-in of, such as ``aws``, and the release that the program asks for.
    command
        Program and arguments that serve it; the engine's own arguments follow.
    """
    plugin = home / "plugins" / f"resource-{package}-v{version}" / f"pulumi-resource-{package}"
    plugin.parent.mkdir(parents=True, exist_ok=True)
    plugin.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    plugin.chmod(PRIVATE)
