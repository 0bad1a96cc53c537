"""Stacks: where their files are and what each file contains."""

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from components.contract.labels import is_dns_label
from components.contract.local.config import LocalConfig
from components.stack_files import yaml_source
from components.stack_files.inheritance import BaseFileError, Inherited, base_file, inherit
from components.stack_files.yaml_source import Source, SourceError, leads_outside
from infra.config import (
    CONFIG_KEY,
    ENGINE_KEYS,
    ConfigurationError,
    KeyPath,
    Problem,
    StackConfig,
    parse,
)
from infra.config.effective import settings_digest
from infra.config.inheritance import SECURE, encrypted, inherited, placed, without_parts_of
from infra.config.problems import did_you_mean, nearest, printable, shown
from infra.config.stack_file import StackFile
from infra.config.tree import tree
from workbench.stacks.file_problems import FileProblems, content_of, located
from workbench.stacks.origins import Origin, origins_of, resolved
from workbench.system.errors import UserError
from workbench.system.paths import FOLDER_VARIABLE, PROJECT_ROOT

PROBLEMS_SHOWN: Final = 50
"""Problems that one message shows; `igz-clusters config check` prints all."""

NAME_MAX: Final = 60
FLEET_FILE: Final = "fleet.yaml"
"""Name of the file next to the stack files that defines the waves of updates."""
CHOICES_PATH: Final[KeyPath] = ("config", CONFIG_KEY)


@dataclass(frozen=True)
class Stack:
    """One stack and its validated choices."""

    name: str
    file: Path
    document: dict[str, Any]
    """The whole stack file, as the engine reads it, with the settings of its base in place."""
    config: StackConfig
    base: Path | None = None
    """The base that the stack file refines; None if it has none."""
    origins: Mapping[KeyPath, Origin] = field(default_factory=dict)
    """What sets each value, by its path below ``CONFIG_KEY``; defaults are missing."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The stack file, and its base if it has one."""
        return (self.file, *([self.base] if self.base else []))

    @property
    def is_local(self) -> bool:
        """Whether the cluster and its state are on this machine."""
        return isinstance(self.config.cluster, LocalConfig)

    @property
    def digest(self) -> str:
        """SHA-256 of its settings with all defaults."""
        return settings_digest(self.config)


def folder() -> Path:
    """Return the folder that holds the stack files.

    ``IGZ_CLUSTERS_STACKS`` if it is set, else the current folder if it holds one of our stack files, else the
    checkout. Program, policy packs and toolchain always come from the checkout; a wheel has the same files.

    Raises
    ------
    UserError
        The variable does not name an existing folder, or it cannot be read.
    """
    if chosen := os.environ.get(FOLDER_VARIABLE):
        if not Path(chosen).is_dir():
            raise UserError(f"--directory, {FOLDER_VARIABLE}: folder {chosen} does not exist.")
        if not os.access(chosen, os.R_OK | os.X_OK):
            raise UserError(
                f"--directory, {FOLDER_VARIABLE}: folder {chosen} cannot be read.", "Run the command as its owner."
            )
        return Path(chosen).resolve()
    return PROJECT_ROOT if is_fallback() else Path.cwd().resolve()


def is_fallback() -> bool:
    """Return whether ``folder()`` is the checkout, because no folder was chosen and the current one has no stack."""
    return not os.environ.get(FOLDER_VARIABLE) and not any(map(_is_ours, Path.cwd().glob("Pulumi.*.yaml")))


def _is_ours(file: Path) -> bool:
    """Return whether a file has our settings; one that cannot be read counts, so that its reader reports that."""
    try:
        return not file.is_dir() and CONFIG_KEY in file.read_text(errors="replace")
    except FileNotFoundError:  # a link to nowhere
        return False
    except OSError:
        return True


class StackFileError(UserError):
    """A stack file is invalid; lists every problem by line."""

    def __init__(self, file: Path, problems: list[Problem]) -> None:
        self._found = FileProblems.of(shown_path(file), problems)
        self.file = self._found.file
        self.problems = list(self._found.problems)
        rest = len(problems) - PROBLEMS_SHOWN
        super().__init__(
            "\n".join([self._found.heading, *self.lines[:PROBLEMS_SHOWN]]),
            f"... and {rest} more: `igz-clusters config check {self.file}`" if rest > 0 else "",
        )

    @property
    def lines(self) -> list[str]:
        """One line per problem, in the FILE:LINE form that editors and terminals can jump to."""
        return self._found.lines

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every problem as data, for scripts."""
        return self._found.rows


def find(name: str) -> Stack:
    """Return the stack called ``name``: ``Pulumi.<name>.yaml`` in the folder or in ``examples/<name>/`` below it.

    Raises
    ------
    UserError
        The stack does not exist.
    StackFileError
        Its file cannot be read or is invalid; lists all problems at once.
    """
    require(name)
    return read(stack_files()[name])


def require(*names: str) -> None:
    """Check that all stacks exist, without reading their files.

    Raises
    ------
    UserError
        At least one stack does not exist, or its name is invalid; names all that do not exist.
    """
    files = stack_files()
    missing = [name for name in dict.fromkeys(names) if name not in files]
    if missing:
        matches = dict.fromkeys(match for name in missing if (match := nearest(name, files)))
        hint = f"Did you mean {' and '.join(map(repr, matches))}? " if matches else ""
        known = ", ".join(sorted(files)) or f"none (no Pulumi.STACK.yaml there sets {CONFIG_KEY})"
        unknown = f"Stack{'s' if len(missing) > 1 else ''} {', '.join(map(shown, missing))}"
        raise UserError(f"{unknown} not found in {folder()}.", f"{hint}Known stacks: {known}.")
    for name in names:
        if not is_dns_label(name):
            raise UserError(
                f"{shown_path(files[name])}: {shown(name)} is not a valid stack name; the cluster takes its name from "
                "it.",
                "Rename the file to Pulumi.NAME.yaml; NAME: 1 to 63 lower-case letters, digits or '-', no '-' at the "
                "ends.",
            )


def none_found(place: Path | None = None) -> UserError:
    """Return the error for a folder without stack files, by default ``folder()``."""
    return UserError(f"There is no stack in {place or folder()}.", "Choose a folder with stack files: -C DIR.")


def read(file: Path) -> Stack:
    """Return the stack that ``file`` describes; raises the same errors as ``find``."""
    if leads_outside(file, file.parent) and leads_outside(file, folder()):
        raise StackFileError(file, [Problem(None, f"is a link to a file outside of {folder()}; copy that file here")])
    if isinstance(source := content_of(file), Problem):
        raise StackFileError(file, [source])
    own = _choices(source.document)
    secrets = list(encrypted(own, CHOICES_PATH))
    wrong = list[Problem]()
    found, config = None, None
    if isinstance(own, dict):
        try:
            found = inherited(own, file.parent, shown_path)
            config = parse(found.settings)
        except ConfigurationError as error:
            unread = {problem.path for problem in source.problems}
            absolute = [_absolute(problem, found, file) for problem in error.problems]
            wrong = [problem for problem in without_parts_of(secrets, absolute) if problem.path not in unread]
    document = resolved(source.document, found) if found else source.document
    problems = [*source.problems, *_file_problems(document), *secrets, *wrong]
    if problems or not (found and config):
        raise StackFileError(file, [_located(problem, source) for problem in problems])
    names = shown_path(file), shown_path(found.file) if found.file else ""
    return Stack(_name(file), file, document, config, found.file, origins_of(source, CHOICES_PATH, found, names))


def unvalidated(file: Path) -> Any:
    """Return the document of a stack file with the settings of its base, without validating them.

    Raises
    ------
    SourceError
        The file is not YAML.
    BaseFileError
        Its base cannot be used.
    OSError
        It cannot be read.
    """
    document = yaml_source.read(file).document
    return resolved(document, inherit(_choices(document), file.parent))


def base_of(file: Path) -> Path | None:
    """Return the base that a stack file names, which may not exist; None if it names none."""
    try:
        return base_file(_choices(yaml_source.read(file).document), file.parent)
    except (SourceError, BaseFileError, OSError):
        return None


def shown_path(file: Path) -> str:
    """Return a file's path for messages: relative to the folder of the stack files if it is inside it."""
    whole = file.absolute()
    inside = whole.is_relative_to(folder())
    return printable(str(whole.relative_to(folder()) if inside else file), limit=300)


def _choices(document: Any) -> Any:
    config = document.get("config") if isinstance(document, dict) else None
    return config.get(CONFIG_KEY) if isinstance(config, dict) else None


def _file_problems(document: Any) -> Iterator[Problem]:
    """Return the problems outside our own settings, with paths from the file's root."""
    if not isinstance(document, dict):
        yield Problem(None, f"the file must be a mapping with the key config, but is {_description(document)}")
        return
    for key, value in document.items():
        if key not in ENGINE_KEYS or (key == "environment" and isinstance(value, str)):
            yield _misplaced(key) or Problem((key,), f"unknown key{did_you_mean(key, ENGINE_KEYS)}", None, ENGINE_KEYS)
    config = document.get("config")
    if config is None and any(nearest(key, ["config"]) for key in document if key != "config"):
        return  # a near miss of the key, named above
    if not isinstance(config, dict):
        yield Problem(("config",), f"must be a mapping with the key {CONFIG_KEY}, but is {_description(config)}")
        return
    others = [
        problem
        for key in config
        if key != CONFIG_KEY and (problem := _config_key_problem(key) or _engine_key(key, config))
    ]
    yield from others
    if CONFIG_KEY not in config and not any(problem.allowed for problem in others):
        yield Problem(("config",), f"the key {CONFIG_KEY} is missing; Pulumi.local.yaml shows the layout")
    elif CONFIG_KEY in config and not isinstance(config[CONFIG_KEY], dict):
        yield Problem(CHOICES_PATH, f"must be a mapping, but is {_description(config[CONFIG_KEY])}")


def _config_key_problem(key: str) -> Problem | None:
    """Return the problem of a key of ``config``, if any. Keys in namespaces of other programs are ignored."""
    ours = CONFIG_KEY.partition(":")[0]
    namespace, colon, _ = key.partition(":")
    if difflib.get_close_matches(namespace.lower()[:NAME_MAX], [ours], cutoff=0.85):
        return Problem(("config", key), f"unknown key, did you mean '{CONFIG_KEY}'?", None, (CONFIG_KEY,))
    if not colon:
        return _misplaced(key, "config") or Problem(("config", key), "needs a namespace, as in aws:region")
    return None


_CREDENTIALS: Final = ("aws:accessKey", "aws:secretKey", "aws:token", "azure-native:clientSecret")
_NOT_FOR_THE_ENGINE: Final = {
    "aws:endpoints": "would send the stack's calls elsewhere; remove it",
    "kubernetes:kubeconfig": "is not used: the cluster under igz-clusters:stack decides; remove it",
    "pulumi:autonaming": "would rename resources, and so replace them; remove it",
    "pulumi:disable-default-providers": "would disable providers that the program uses; remove it",
}


def _engine_key(key: str, config: Mapping[str, Any]) -> Problem | None:
    """Return the problem of a setting of the engine or a provider that would contradict ours, if any."""
    value, choices = config[key], config.get(CONFIG_KEY)
    if key in _CREDENTIALS and not (isinstance(value, dict) and SECURE in value):
        return Problem(
            ("config", key), "is a credential in plain text; remove it, rotate it, and use a session of the cloud's CLI"
        )
    if reason := _NOT_FOR_THE_ENGINE.get(key):
        return Problem(("config", key), reason)
    cluster = choices.get("cluster") if isinstance(choices, dict) else None
    region = cluster.get("region") if isinstance(cluster, dict) else None
    if key == "aws:region" and isinstance(region, str) and value != region:
        return Problem(("config", key), "is not cluster.region; remove it", shown(value), (region,))
    return None


def _misplaced(key: str, *parents: str) -> Problem | None:
    if key not in tree(StackFile).keys:
        return None
    return Problem((*parents, key), f"belongs under config, {CONFIG_KEY}; indent it")


def _description(value: Any) -> str:
    return "missing" if value is None else shown(value)


def _absolute(problem: Problem, found: Inherited | None, file: Path) -> Problem:
    """Return a problem of the settings with its path from the file's root; one in the base has its place there."""
    if found and (there := placed(found, problem, shown_path)).file:
        return replace(there, message=f"in {file.name}: {there.message}")
    return problem if problem.file else replace(problem, path=(*CHOICES_PATH, *(problem.path or ())))


def _located(problem: Problem, source: Source) -> Problem:
    """Return the problem with its line and its path below ``CONFIG_KEY``."""
    if problem.file:
        return problem
    path = problem.path or ()
    below = path[len(CHOICES_PATH) :] if path[: len(CHOICES_PATH)] == CHOICES_PATH else problem.path
    return replace(located(problem, source), path=below)


def stack_files(place: Path | None = None) -> dict[str, Path]:
    """Return each stack's file by stack name, from ``place`` or by default from ``folder()``."""
    root = place or folder()
    examples = root.glob("examples/*/Pulumi.*.yaml")
    named = [(_name(file), file) for file in examples if _name(file) == file.parent.name]
    return dict(sorted(named)) | {_name(file): file for file in sorted(root.glob("Pulumi.*.yaml"))}


def _name(file: Path) -> str:
    return file.name.removeprefix("Pulumi.").removesuffix(".yaml")
