"""A preview without an account, a cluster or a network, of which nothing is kept."""

import json
import os
import secrets
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import yaml
from typing_extensions import override

from workbench.clouds.aws.facts import PROVIDER_VERSION as AWS_VERSION
from workbench.clouds.journal import JOURNAL
from workbench.engine.session import Session, policy_packs
from workbench.paths import PRIVATE, PROJECT_ROOT
from workbench.policy.overrides import attached
from workbench.stacks import Stack
from workbench.toolchain import Toolchain
from workbench.toolchain.recipes import PROVIDER_VERSION as KUBERNETES_VERSION

TOOLS: Final = ("pulumi", "pulumi-resource-kubernetes")
"""What a render needs of the toolchain."""

MARK: Final = "igz-clusters:rendered"
"""Key that a render adds to the configuration, so that its event stream shows that nothing was compared."""

LABEL: Final = (
    "Rendered offline, from an empty state: not compared with the live stack. In the cloud's place stands a plug-in of "
    "our own, by dated facts of the real one."
)

PASSED_ON: Final = frozenset({"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "NO_COLOR", "COLUMNS", "CI"})
"""Variables of the caller that a render sees. No other: no credentials, no kubeconfig, no home."""

PASSED_ON_PREFIX: Final = "IGZ_CLUSTERS_POLICY_"
"""How the policy packs shall treat doubt is the caller's choice too."""

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
class Tally:
    """What the offline plug-ins noted during one run.

    Parameters
    ----------
    judged, unknown, unmodelled
        Values that a model judged, that are not known yet, and that no model covers.
    refused
        Calls that would have needed a cloud, one text each.
    """

    judged: int
    unknown: int
    unmodelled: int
    refused: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """The figures in words."""
        values = (
            f"Values of AWS inputs: {self.judged} judged by AWS's API models, {self.unknown} not known yet, "
            f"{self.unmodelled} covered by no model (docs/aws-inputs.md)."
        )
        calls = f"Calls that need a cloud: {len(self.refused)}."
        return [*([values] if self.judged else []), calls, *(f"  refused: {call}" for call in self.refused)]


@dataclass(frozen=True, kw_only=True)
class OfflineSession(Session):
    """A session with an empty state, in an environment that holds nothing of the caller's clouds."""

    journal: Path

    @property
    def tally(self) -> Tally:
        """What the plug-ins have noted so far."""
        lines = self.journal.read_text(encoding="utf-8").splitlines() if self.journal.exists() else []
        events = [json.loads(line) for line in lines]
        figures = Counter[str]()
        for event in events:
            figures.update({key: value for key, value in event.items() if isinstance(value, int)})
        refused = tuple(f"{e['subject']} {e['what']}" for e in events if e["event"] == "refused")
        return Tally(figures["judged"], figures["unknown"], figures["unmodelled"], refused)

    @override
    def whole_environment(self) -> dict[str, str]:
        passed = {k: v for k, v in os.environ.items() if k in PASSED_ON or k.startswith(PASSED_ON_PREFIX)}
        return {**passed, **self.environment}


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
    home, state, project = folder / "pulumi", folder / "state", folder / "project"
    for each in (home, state, project):
        each.mkdir(mode=PRIVATE)
    install(home, "aws", AWS_VERSION, sys.executable, "-m", "workbench.clouds.aws")
    install(home, "kubernetes", KUBERNETES_VERSION, str(toolchain.path("pulumi-resource-kubernetes")))
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(NO_CLUSTER))
    config = project / f"Pulumi.{stack.name}.yaml"
    document = {**stack.document, "config": {**stack.document["config"], MARK: "true"}}
    config.write_text(yaml.safe_dump(document, sort_keys=False))
    # `stack init` writes beside the project file of its folder, whatever the option says.
    (project / "Pulumi.yaml").write_text((PROJECT_ROOT / "Pulumi.yaml").read_text())
    session = OfflineSession(
        stack,
        toolchain.pulumi,
        {
            "HOME": str(folder),
            "TMPDIR": str(folder),
            # The language host lies in the same folder, whoever's Pulumi it is.
            "PATH": os.pathsep.join([str(toolchain.pulumi.parent), os.environ.get("PATH", os.defpath)]),
            "PULUMI_HOME": str(home),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_BACKEND_URL": f"file://{state}",
            "PULUMI_CONFIG_PASSPHRASE": secrets.token_urlsafe(32),
            "PULUMI_STACK": stack.name,
            "PULUMI_OPTION_CONFIG_FILE": str(config),
            **attached(stack.name, policy_packs(), folder),
            "KUBECONFIG": str(kubeconfig),
            "IGZ_CLUSTERS_LOCAL_KUBECONFIG": str(kubeconfig),
            JOURNAL: str(folder / "journal"),
        },
        journal=folder / "journal",
    )
    session.query("stack", "init", stack.name, "--no-select", folder=project)
    return session


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
