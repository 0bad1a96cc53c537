"""The copy of a stack that an acceptance run uses, in a folder of its own, so that the original never changes."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from components.contract.environments import ClusterKind, Environment
from components.contract.existing.config import ExistingConfig
from components.contract.labels import is_dns_label
from components.contract.policy_guard import PolicyGuard
from components.contract.pools import PoolRole
from components.stack_files import yaml_source
from infra.config import CONFIG_KEY
from workbench import stacks
from workbench.engine.clouds.find import CLOUDS
from workbench.stacks import Stack, StackFileError, policy_overrides
from workbench.system.errors import UserError
from workbench.system.files import write_private
from workbench.system.paths import PRIVATE, PROJECT_ROOT, data_dir

SUFFIX: Final = "-accept"
"""Suffix that the copy's default name adds to the stack's."""

_HOURS: Final = "officeHours"


@dataclass(frozen=True)
class CopiedStack:
    """The folder of a copy.

    Parameters
    ----------
    name
        Name of the copy's stack.
    original
        Name of the stack.
    """

    name: str
    original: str

    @property
    def folder(self) -> Path:
        """Folder of the stack file, the record and the event streams."""
        return data_dir() / "acceptance" / self.name

    @property
    def file(self) -> Path:
        """The copy's stack file; it exists from the first step to the end of the run or of its clean-up."""
        return self.folder / f"Pulumi.{self.name}.yaml"

    @property
    def events(self) -> Path:
        """Where a run of the engine writes its event stream."""
        return self.folder / "events.jsonl"

    @property
    def original_file(self) -> Path:
        """The original's settings as the run read them when it began, those of its base included."""
        return self.folder / "original.yaml"

    @property
    def command(self) -> str:
        """The command that starts or continues the run."""
        named = "" if self.name == f"{self.original}{SUFFIX}" else f" --name {self.name}"
        return f"igz-clusters accept {self.original}{named}"

    @property
    def killed_log(self) -> Path:
        """What the killed run printed."""
        return self.folder / "killed.log"

    @property
    def stack(self) -> Stack:
        """The copy as it is now."""
        return stacks.read(self.file)

    def make(self, source: Stack) -> tuple[str, ...]:
        """Write the copy and return what it leaves out, one sentence each.

        Raises
        ------
        UserError
            The copy would not be a valid stack, for example because its cluster's name would be too long.
        """
        self._refuse(source)
        choices = _choices(source.document)
        cluster = choices["cluster"] = dict(choices["cluster"])
        if "name" in cluster:
            cluster["name"] = f"{cluster['name']}{self.name.removeprefix(self.original)}"
            if not self.name.startswith(self.original):
                cluster["name"] = self.name
        if source.config.policy_guard is PolicyGuard.REQUIRED:
            choices["policyGuard"] = PolicyGuard.WARN.value  # the run may replace and delete what it creates
        left_out = tuple(_leave_out(choices))
        self.folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        shutil.copy(PROJECT_ROOT / "Pulumi.yaml", self.folder)  # `stack init` writes a file next to it
        overrides = self._overrides()
        self._write({**source.document, "config": {**source.document["config"], CONFIG_KEY: choices}})
        self._require_valid()
        write_private(self.original_file, yaml_source.written(source.document))
        self._own_overrides.parent.mkdir(exist_ok=True, mode=PRIVATE)
        write_private(self._own_overrides, yaml_source.written(overrides))
        return left_out

    def require_unedited(self, source: Stack) -> None:
        """Refuse to continue if the original was edited: earlier steps tested its old settings.

        Raises
        ------
        UserError
            The original was edited; the message lists the keys that differ.
        """
        if not self.original_file.exists():  # an earlier release began this run
            return
        began, now = dict(_leaves(yaml_source.read(self.original_file).document)), dict(_leaves(source.document))
        edited = [path for path in sorted({**began, **now}) if began.get(path) != now.get(path)]
        if yaml_source.read(self._own_overrides).document != self._overrides():
            edited.append(f"its waivers and remedies in {policy_overrides.FILE}")
        if edited:
            files = " or ".join(each.name for each in source.files)
            raise UserError(
                f"{files} was edited after this run began, and the copy does not have the edits: {', '.join(edited)}.",
                f"Start a new run: `{self.command} --clean-up`, then `{self.command}`. To continue this one, undo the "
                "edits.",
            )

    def edit(self, changes: Mapping[str, Any]) -> None:
        """Change keys of the copy; paths are dotted, None removes a key."""
        document = yaml_source.read(self.file).document  # with the salt that the engine may have added
        choices = _choices(document)
        for path, value in changes.items():
            *parents, last = path.split(".")
            here = choices
            for key in parents:
                here[key] = dict(here.get(key) or {})
                here = here[key]
            here.pop(last, None)
            if value is not None:
                here[last] = value
        self._write({**document, "config": {**document["config"], CONFIG_KEY: choices}})

    @property
    def choices(self) -> dict[str, Any]:
        """The copy's settings, as its file has them."""
        return _choices(yaml_source.read(self.file).document)

    def remove(self) -> None:
        """Delete everything but the record."""
        for file in (self.file, self.original_file, self.events, self.killed_log, self.folder / "Pulumi.yaml"):
            file.unlink(missing_ok=True)
        shutil.rmtree((self.folder / policy_overrides.FILE).parent, ignore_errors=True)

    def _refuse(self, source: Stack) -> None:
        if not is_dns_label(self.name):
            raise UserError(
                f"The copy's name '{self.name}' is not a valid stack name.",
                "Choose one with --name: 1 to 63 lower-case letters, digits or '-', no '-' at the ends.",
            )
        if self.name in stacks.stack_files():
            raise UserError(
                f"You already have a stack '{self.name}': {stacks.shown_path(stacks.stack_files()[self.name])}.",
                "Choose another name for the copy with --name.",
            )
        if source.config.environment is not Environment.PROD:
            return
        if type(source.config.cluster) in CLOUDS:
            raise UserError(
                f"'{self.original}' is a production stack: its cluster, keys and network are protected, so that the "
                "run could not delete its copy.",
                "Run it on a stack with `environment: dev` in the same account; docs/acceptance.md says what differs.",
            )
        if isinstance(source.config.cluster, ExistingConfig):
            raise UserError(
                f"'{self.original}' is a production stack: the run would change labels, taints and admission of "
                "production's own nodes and namespaces.",
                "Run it on a cluster of a stack with `environment: dev`.",
            )

    def _require_valid(self) -> None:
        try:
            stacks.read(self.file)
        except StackFileError as error:
            problems = "\n".join(map(str, error.problems))
            self.remove()
            raise UserError(
                f"The copy '{self.name}' would not be a valid stack:\n{problems}",
                "The stack and its cluster get the copy's name; choose a shorter one with --name if it is too long. "
                "Data pools and reserved pools are left out; choose another stack if it cannot be without them.",
            ) from None

    @property
    def _own_overrides(self) -> Path:
        return self.folder / policy_overrides.FILE

    def _overrides(self) -> dict[str, Any]:
        """Return the waivers of the original for the copy, and the rules that remediate."""
        found = policy_overrides.read().model_dump(mode="json", by_alias=True)
        rows = [{**each, "stack": self.name} for each in found["waivers"] if each["stack"] == self.original]
        return {"waivers": rows, "approvals": [], "remediate": found["remediate"]}

    def _write(self, document: Mapping[str, Any]) -> None:
        header = f"# An acceptance run's copy of the stack {self.original}; edit that, not this.\n"
        write_private(self.file, header + yaml_source.written(dict(document)))


def _leave_out(choices: dict[str, Any]) -> Iterator[str]:
    """Remove the pools, schedules and traits of older clusters that a copy cannot have; return a sentence for each."""
    if choices["cluster"].pop(_HOURS, None):
        yield f"cluster.{_HOURS}: they could stop the nodes in the middle of a run."
    if choices["cluster"]["kind"] == ClusterKind.AKS and choices["cluster"].pop("backup", None) is not None:
        yield "cluster.backup: Azure keeps the vault of a run for two weeks, and the next run would find it."
    if choices["cluster"].pop("createdWithPool", None):
        yield "cluster.createdWithPool: a new cluster is created with its own pool."
    if choices["cluster"].pop("nodeVersion", None):
        choices["cluster"].pop("nodeRelease", None)  # it is a release of that version
        yield "cluster.nodeVersion: nodes of a new cluster have its version."
    pools, choices["pools"] = choices["pools"], {}
    for name, pool in pools.items():
        if pool["role"] == PoolRole.DATA:
            yield f"Pool '{name}': its nodes are kept on destroy."
        elif pool.get("reservation"):
            yield f"Pool '{name}': its machines are reserved for the original."
        else:
            choices["pools"][name] = {key: value for key, value in pool.items() if key != _HOURS}
            if pool.get(_HOURS):
                yield f"pools.{name}.{_HOURS}: they could resize the pool in the middle of a run."


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Return the settings of a stack file by path, without what the engine writes into it."""
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            if path or key != "encryptionsalt":
                yield from _leaves(each, f"{path}.{key}".lstrip("."))
    else:
        yield path, value


def _choices(document: Mapping[str, Any]) -> dict[str, Any]:
    return dict(document["config"][CONFIG_KEY])
