"""Where commands run: a temporary data folder, scratch projects, and one local control plane at a time."""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from infra.config import CONFIG_KEY
from policies.rule import Pack
from tools.benchmarks.measure import Command, measure
from workbench import stacks
from workbench.cli.console import errors
from workbench.engine import open_session
from workbench.engine.render import NO_CLUSTER
from workbench.engine.secrets import passphrase_file
from workbench.engine.session import POLICY_PACKS, policy_packs
from workbench.local import Instance
from workbench.stacks.policy_overrides import detached
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, ensure, environment
from workbench.toolchain.console import progress

HERE = Path(__file__).parent
INFRA = PROJECT_ROOT / "infra"
"""The project's own program."""
EMPTY = HERE / "programs" / "empty"
PLAIN = HERE / "programs" / "plain"
NO_OP_PACK = HERE / "packs" / "no_op"
OWN_PACKS = tuple(policy_packs())
"""What `igz-clusters` attaches: all rules in one process."""
SEPARATE_PACKS = tuple(PROJECT_ROOT / POLICY_PACKS / pack for pack in Pack)
"""The packs that a user may attach alone, a process each."""

STACK = "local"
"""Name of the stack in every scratch project."""


@dataclass(frozen=True)
class Project:
    """A Pulumi project with one stack, and how to run the engine on it."""

    pulumi: Path
    folder: Path
    environment: Mapping[str, str]

    def command(self, *arguments: str) -> Command:
        """Return a quiet run of the engine."""
        return Command((str(self.pulumi), *arguments, "--non-interactive"), self.folder, self.environment)

    def preview(self, *options: str, refresh: bool = False, packs: Sequence[Path] = ()) -> Command:
        """Return a preview; ``refresh`` first reads the live resources."""
        attached = [option for pack in packs for option in ("--policy-pack", str(pack))]
        return self.command("preview", "--suppress-outputs", f"--refresh={str(refresh).lower()}", *attached, *options)


@dataclass(frozen=True)
class Arena:
    """The tools and a temporary folder."""

    toolchain: Toolchain
    folder: Path

    @cached_property
    def environment(self) -> dict[str, str]:
        """Variables of every run: the engine's own home, no policy pack, no cluster."""
        nowhere = self.folder / "nowhere"
        nowhere.write_text(yaml.safe_dump(NO_CLUSTER))
        return {
            **os.environ,
            **environment(self.toolchain),
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(passphrase_file()),
            "IGZ_CLUSTERS_LOCAL_KUBECONFIG": str(nowhere),
        }

    def scratch(self, name: str, program: Path, *, config: Any = None, **variables: str) -> Project:
        """Return a new project that runs ``program`` on an empty state.

        Parameters
        ----------
        name
            Of its folder.
        program
            Folder of the program.
        config
            The stack's choices, where the program reads any.
        variables
            More of the environment.
        """
        folder = self.folder / name
        folder.mkdir()
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}}
        definition = {"name": "igz-clusters", "main": str(program), "runtime": runtime}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(definition))
        if config:
            document = {"config": {CONFIG_KEY: config}}
            (folder / f"Pulumi.{STACK}.yaml").write_text(yaml.safe_dump(document))
        own = {"PULUMI_BACKEND_URL": f"file://{folder}", **variables}
        project = Project(self.toolchain.pulumi, folder, {**self.environment, **own})
        measure(project.command("stack", "init", STACK))
        return project

    @cached_property
    def no_op_packs(self) -> tuple[Path, ...]:
        """As many packs as ours, each with one rule that checks nothing."""
        return tuple(self._no_op_pack(f"no-op-{number}") for number, _ in enumerate(OWN_PACKS, start=1))

    def _no_op_pack(self, name: str) -> Path:
        folder = shutil.copytree(NO_OP_PACK, self.folder / name)
        definition = yaml.safe_load((NO_OP_PACK / "PulumiPolicy.yaml").read_text())
        definition["runtime"]["options"]["virtualenv"] = str(PROJECT_ROOT / ".venv")
        (folder / "PulumiPolicy.yaml").write_text(yaml.safe_dump(definition))
        return folder

    def offline(self, program: Path, *, config: Any = None, **variables: str) -> Command:
        """Return a run of a program without an engine."""
        values = {"PULUMI_CONFIG": json.dumps({CONFIG_KEY: json.dumps(config)}), **variables}
        module = f"{__package__}.offline"
        return Command((sys.executable, "-m", module, str(program)), PROJECT_ROOT, {**self.environment, **values})

    @contextmanager
    def running(self, name: str) -> Iterator[Project]:
        """Create the stack called ``name`` on a separate control plane, and delete that afterwards."""
        instance = Instance(name)
        try:
            instance.start(self.toolchain)
            session = open_session(stacks.find(name), self.toolchain, instance.kubeconfig)
            own = detached(session.environment)
            project = Project(session.pulumi, PROJECT_ROOT, {**self.environment, **own})
            measure(project.command("up", "--yes", "--skip-preview"))
            yield project
        finally:
            instance.delete()


@contextmanager
def arena() -> Iterator[Arena]:
    """Make an arena; its folder and all that it holds go away at the end.

    Until then the environment of this process is that of a user who has set nothing about Python, Pulumi or this
    project.
    """
    before = dict(os.environ)
    foreign = ("PYTHON", "PULUMI_", "IGZ_CLUSTERS_DATA", "KUBECONFIG")
    for variable in [name for name in before if name.startswith(foreign)]:
        del os.environ[variable]
    try:
        with progress(errors) as report:
            toolchain = ensure(hermetic=True, progress=report)
        with TemporaryDirectory(prefix="igz-clusters-bench-") as folder:
            os.environ["IGZ_CLUSTERS_DATA"] = folder
            yield Arena(toolchain, Path(folder).resolve())
    finally:
        os.environ.clear()
        os.environ.update(before)
