"""``operator.yaml``, the objects that follow from it, and the folder that has them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml

from components.stack_files import yaml_source
from infra.config import Problem
from infra.config.problems import shown
from workbench import stacks
from workbench.fleet import file as fleet
from workbench.fleet.file import Plan
from workbench.pulumi_operator import manifests
from workbench.pulumi_operator.manifests import COMMIT_FORM, NAME_MAX, WORKSPACES, Manifest, is_commit, secrets_provider
from workbench.pulumi_operator.model import OperatorFile
from workbench.stacks import Stack, StackFileError, committed
from workbench.stacks.file_problems import content_of, located, parsed
from workbench.stacks.project import PROJECT_FILE, project, project_file
from workbench.system.errors import UserError, all_of, refuse
from workbench.system.git import git
from workbench.system.paths import APP

FILE: Final = "operator.yaml"

_CLOUD: Final = "https://"
_TOKEN: Final = "PULUMI_ACCESS_TOKEN"  # noqa: S105 the name of a variable
_ITS_OWN: Final = "passphrase"
"""Secrets provider of a stack that is encrypted with a passphrase."""

_DEFAULT: Final = "default"
"""The same as no secrets provider: pkg/cmd/pulumi/stack/secrets.go of pulumi v3.259.0."""

_PASSPHRASES: Final = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")

_START: Final = """\
repository: https://github.com/acme/clusters # of your stack files
image: registry.example.com/igz-clusters:0.2.0 # built from examples/container/Containerfile
backend: s3://acme-pulumi-state # without it: Pulumi Cloud
secretEnvironment:
  PULUMI_CONFIG_PASSPHRASE: {secret: pulumi, key: passphrase}"""

_ALSO_APPLIED: Final = (".yml", ".json")
"""Endings of files that `kubectl apply --filename DIR` reads besides those that are written here."""

_HEADER: Final = f"# Written by `{APP} operator manifests` from {FILE}: edit that file and run it again.\n"


@dataclass(frozen=True)
class Operated:
    """The stacks that the operator updates.

    Parameters
    ----------
    choices
        The content of ``operator.yaml``.
    plan
        The waves.
    stacks
        The stacks in a cloud that are in a wave, by name.
    left_out
        Stacks that the operator does not update, and why.
    """

    choices: OperatorFile
    plan: Plan
    stacks: Mapping[str, Stack]
    left_out: Mapping[str, str]

    def files(self, commits: Mapping[str, Any]) -> dict[str, list[Manifest]]:
        """Return the objects by name of file, with what all stacks share; ``commits`` has a commit for each stack."""
        after = manifests.predecessors(self.plan, self.stacks)
        own = {
            name: [manifests.stack_object(self.stacks[name], self.choices, commit, after[name])]
            for name, commit in commits.items()
        }
        return {WORKSPACES: manifests.shared(self.choices), **own}

    def chosen(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the stacks with these names, all if there are none.

        Raises
        ------
        UserError
            The operator does not update some; names all and why.
        """
        stacks.require(*names)
        refuse(UserError(f"{name}: {self.left_out[name]}.") for name in names if name in self.left_out)
        return tuple(dict.fromkeys(names)) or tuple(self.stacks)


def read() -> Operated:
    """Return what the folder of the stack files says about the operator.

    Raises
    ------
    StackFileError
        ``operator.yaml``, ``fleet.yaml`` or a stack file is invalid; lists all problems.
    UserError
        There is no ``operator.yaml``, no project file for the operator, or no stack in a cloud.
    """
    place = stacks.folder() / FILE
    if not place.exists():
        raise UserError(f"There is no {FILE} in {stacks.folder()}.", f"Start with these lines:\n{_START}")
    choices, plan, _ = all_of(partial(_choices, place), fleet.checked, _require_project_file)
    found = fleet.stacks_of(plan.stacks)
    left_out = dict.fromkeys(plan.left_out, f"is in no wave of {stacks.FLEET_FILE}")
    left_out |= {name: "is a local stack, which needs no operator" for name, stack in found.items() if stack.is_local}
    remote = {name: stack for name, stack in found.items() if not stack.is_local}
    if not remote:
        raise UserError(f"{stacks.folder()} has no stack in a cloud for the operator to update.")
    refuse(map(UserError, _unfit(choices, remote)))
    return Operated(choices, plan, remote, left_out)


def _unfit(choices: OperatorFile, remote: Mapping[str, Stack]) -> Iterator[str]:
    """Yield what would only fail in the operator's cluster."""
    place = stacks.folder()
    inside = git(place, "rev-parse", "--show-prefix")
    if inside is not None and (inside.strip("/") or ".") != (choices.directory.strip("/") or "."):
        there = inside.strip("/") or "."
        yield f"{FILE}: directory: must be {there!r}, where {place} is in its repository, not {choices.directory!r}"
    for name in remote:
        if len(name) > NAME_MAX or not name[0].isalpha():
            yield f"{name}: the operator takes names of at most {NAME_MAX} characters that start with a letter"
    variables = {*choices.environment, *choices.secret_environment}
    is_cloud = (choices.backend or _CLOUD).startswith(_CLOUD)
    if is_cloud and _TOKEN not in variables:
        yield f"{FILE}: secretEnvironment: Pulumi Cloud needs {_TOKEN}; or set `backend`"
    if variables.isdisjoint(_PASSPHRASES):
        for name, stack in remote.items():
            if _has_passphrase(stack, is_cloud=is_cloud):
                way = f"{_PASSPHRASES[0]} in secretEnvironment of {FILE}"
                yield f"{name}: needs `secretsprovider` in its stack file, or {way}"


def _has_passphrase(stack: Stack, *, is_cloud: bool) -> bool:
    """Return whether a passphrase encrypts the secrets of a stack; Pulumi Cloud has keys of its own."""
    given = secrets_provider(stack)
    return given == _ITS_OWN or bool(given in ("", _DEFAULT) and (stack.document.get("encryptionsalt") or not is_cloud))


def _choices(place: Path) -> OperatorFile:
    source = content_of(place)
    if isinstance(source, Problem):
        raise StackFileError(place, [source])
    choices, problems = parsed(source, OperatorFile)
    if problems or not choices:
        raise StackFileError(place, [located(problem, source) for problem in problems])
    return choices


def _require_project_file() -> None:
    """Refuse a folder that the operator's agent could not open: it reads the project file before anything runs."""
    place = project_file()
    if not place.exists():
        raise UserError(
            f"The operator needs a {PROJECT_FILE} in {stacks.folder()}.",
            f"Create it with these lines; the program itself is in the image:\nname: {APP}\nruntime: python",
        )
    if (given := project()) != APP:
        raise UserError(f"{place}: name must be {APP!r}, the project in whose state the stacks are, not {given!r}.")


def text(objects: Sequence[Manifest]) -> str:
    """Return objects as one YAML file."""
    return _HEADER + "---\n".join(map(yaml_source.plain, objects))


def write(place: Path, files: Mapping[str, Sequence[Manifest]]) -> list[Path]:
    """Write files of objects that differ from what ``place`` has; return their paths."""
    place.mkdir(parents=True, exist_ok=True)
    changed = list[Path]()
    for name, objects in files.items():
        file, content = place / f"{name}.yaml", text(objects)
        if not file.exists() or file.read_bytes() != content.encode():
            file.write_bytes(content.encode())
            changed.append(file)
    return changed


def differences(place: Path, operated: Operated) -> Iterator[str]:
    """Yield how the objects in a folder differ from those that follow from ``operator.yaml`` and the stack files.

    The commits are those in the folder.

    Raises
    ------
    UserError
        The folder has no objects, or a file in it cannot be read.
    """
    kept = _kept(place)
    if not kept:
        raise UserError(f"{place} has no objects.", f"`{APP} operator manifests --output {place}` writes them.")
    commits = {name: _commit_in(kept.get(name, [])) for name in operated.stacks}
    expected = operated.files(commits)
    for file in sorted(each for each in place.iterdir() if each.suffix in _ALSO_APPLIED):
        yield f"{file.name}: is not expected, and `kubectl apply --filename` applies it; delete it"
    for name in sorted(expected.keys() - kept.keys()):
        yield f"{name}.yaml: is missing"
    for name in sorted(kept.keys() - expected.keys()):
        why = operated.left_out.get(name, "is the name of no stack in a cloud")
        yield f"{name}.yaml: {name} {why}; delete the file and the objects in it"
    for name in sorted(expected.keys() & kept.keys()):
        yield from _unequal(f"{name}.yaml", expected[name], kept[name], operated.choices.namespace)
        if name in commits and not is_commit(commits[name]):
            yield f"{name}.yaml: Stack {name}: spec.commit: is {shown(commits[name])}; {COMMIT_FORM}"


def behind(place: Path, operated: Operated) -> Iterator[str]:
    """Yield the stacks whose files changed after the commit that their object in a folder names.

    A shallow clone does not show it.
    """
    if committed.is_shallow(stacks.folder()):
        return
    kept = _kept(place)
    for name, stack in operated.stacks.items():
        last, named = committed.last_commit(stack, project_file()), _commit_in(kept.get(name, []))
        if last and git(stacks.folder(), "merge-base", "--is-ancestor", last, str(named)) is None:
            yield name


def _kept(place: Path) -> dict[str, list[Manifest]]:
    def read_one(file: Path) -> tuple[str, list[Manifest]]:
        try:
            found = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
            json.dumps(
                found, default=str
            )  # raises errors for what JSON does not have, such as an object that is a part of itself
        except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
            raise UserError(f"{file} is not plain YAML: {' '.join(str(error).split())}") from None
        if not all(isinstance(each, dict) for each in found):
            raise UserError(f"{file} must have Kubernetes objects only.")
        return file.stem, found

    return dict(all_of(*(partial(read_one, file) for file in sorted(place.glob("*.yaml")))))


def _commit_in(objects: Sequence[Manifest]) -> Any:
    specs = [each.get("spec") for each in objects]
    return next((spec["commit"] for spec in specs if isinstance(spec, dict) and "commit" in spec), None)


def _unequal(file: str, expected: Sequence[Manifest], kept: Sequence[Manifest], namespace: str) -> Iterator[str]:
    wanted, found = ({_identity(each, namespace): each for each in objects} for objects in (expected, kept))
    for identity, count in Counter(_identity(each, namespace) for each in kept).items():
        if count > 1:
            yield f"{file}: {identity}: appears {count} times; keep one"
    for identity in {**wanted, **found}:
        if identity not in found:
            yield f"{file}: {identity}: is missing"
        elif identity not in wanted:
            yield f"{file}: {identity}: is not expected; remove it"
        else:
            before, after = dict(_leaves(found[identity])), dict(_leaves(wanted[identity]))
            for path in sorted(before.keys() | after.keys()):
                if before.get(path) != after.get(path):
                    yield f"{file}: {identity}: {path}: is {_said(before, path)}, must be {_said(after, path)}"


def _identity(each: Manifest, usual: str) -> str:
    """Return kind and name of an object, with its namespace unless that is the usual one."""
    given = each.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    place = metadata.get("namespace", usual)
    return f"{each.get('kind')} {metadata.get('name')}{'' if place == usual else f' in namespace {place}'}"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _leaves(each, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list) and value:
        names = [each.get("name") if isinstance(each, dict) else None for each in value]
        keys = names if None not in names and len(set(names)) == len(names) else range(len(value))
        for key, each in zip(keys, value, strict=True):
            yield from _leaves(each, f"{path}[{key}]")
    else:
        yield path, value


def _said(leaves: Mapping[str, Any], path: str) -> str:
    return shown(leaves[path]) if path in leaves else "absent"
