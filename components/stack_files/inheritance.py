"""Resolves the settings of a stack file that has a base: once, for program, policy packs and command line alike."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from components.contract.labels import is_dns_label
from components.stack_files import yaml_source
from components.stack_files.base import BASE_KEY, BaseFile, Layer, has, hides, merged
from components.stack_files.problem import KeyPath, Problem, did_you_mean, shown
from components.stack_files.yaml_source import Source, SourceError, leads_outside

_NAMED: Final = re.compile(r"Base\.([^/]+)\.yaml")
_CONFIG_FILE: Final = "PULUMI_OPTION_CONFIG_FILE"
"""The engine's option for another stack file, which its programs and packs see:
https://www.pulumi.com/docs/iac/cli/environment-variables/.
"""


class BaseFileError(Exception):
    """The base of a stack cannot be used.

    Parameters
    ----------
    problems
        Problems of the base, or of ``base`` in the stack file if ``file`` is None.
    file, source
        The base, and its content if it could be read.
    invalid
        Errors of the base's model; None if there are none.
    """

    def __init__(
        self,
        problems: tuple[Problem, ...],
        file: Path | None = None,
        source: Source | None = None,
        invalid: ValidationError | None = None,
    ) -> None:
        super().__init__(*map(str, problems))
        self.problems = problems
        self.file = file
        self.source = source
        self.invalid = invalid


@dataclass(frozen=True)
class Inherited:
    """Settings of a stack.

    Parameters
    ----------
    own
        Those of the stack file.
    settings
        All settings, including those of the base, without the key ``base``.
    file, source
        The base and its content; None without a base.
    layers
        The layers of the base that apply to the stack, by their index.
    """

    own: Any
    settings: Any
    file: Path | None = None
    source: Source | None = None
    layers: dict[int, Layer] = field(default_factory=dict)

    def in_base(self, path: KeyPath) -> KeyPath | None:
        """Return where the base sets a key of the settings, or its nearest parent; None if the stack file does."""
        while path:
            if has(self.own, path):
                return None
            if not hides(self.own, path):
                for index, layer in reversed(self.layers.items()):
                    if has(layer.settings, path):
                        return ("layers", index, "settings", *path)
                    if hides(layer.settings, path):
                        break
            path = path[:-1]
        return None


def base_file(settings: Any, folder: Path) -> Path | None:
    """Return the file of a stack's base; None if the stack has none.

    Parameters
    ----------
    settings
        The settings of the stack file, not validated.
    folder
        The folder of the stack file.

    Raises
    ------
    BaseFileError
        The base's name is invalid.
    """
    name = settings.get(BASE_KEY) if isinstance(settings, Mapping) else None
    if name is None:
        return None
    if not isinstance(name, str) or not is_dns_label(name):
        message = "must be the NAME of a file Base.NAME.yaml beside the stack file: lower-case letters, digits or '-'"
        raise BaseFileError((Problem((BASE_KEY,), message, shown(name)),))
    return folder / f"Base.{name}.yaml"


def base_name(file: str) -> str:
    """Return the name of the base whose file has this name; empty if the file is not a base."""
    found = _NAMED.fullmatch(file)
    return found[1] if found else ""


def inherit(settings: Any, folder: Path) -> Inherited:
    """Return the settings of a stack with those of its base; unchanged if it has none.

    Parameters: as in ``base_file``.

    Raises
    ------
    BaseFileError
        The base does not exist, cannot be read, or has invalid content.
    """
    if (file := base_file(settings, folder)) is None:
        is_named = isinstance(settings, Mapping) and BASE_KEY in settings
        return Inherited(settings, _own(settings) if is_named else settings)
    source = _read(file)
    try:
        base = BaseFile.model_validate(source.document)
    except ValidationError as error:
        raise BaseFileError(source.problems, file, source, error) from None
    if source.problems:
        raise BaseFileError(source.problems, file, source)
    layers = {index: layer for index, layer in enumerate(base.layers) if layer.fits(settings)}
    inherited: Any = {}
    for layer in layers.values():
        inherited = merged(inherited, layer.settings)
    return Inherited(settings, merged(inherited, _own(settings)), file, source, layers)


def folder_of_the_run() -> Path:
    """Return the folder of the stack file that the engine reads, for the engine's own programs.

    It is the folder of the stack file in the engine's option, or else the project's folder.
    """
    project = Path(__file__).resolve().parents[2]
    return (project / file).parent if (file := os.environ.get(_CONFIG_FILE)) else project


def _own(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key != BASE_KEY}


def _read(file: Path) -> Source:
    if leads_outside(file, file.parent):
        raise BaseFileError((Problem(None, "is a link to a file outside of its folder; copy that file here"),), file)
    try:
        return yaml_source.read(file)
    except SourceError as error:
        raise BaseFileError((error.problem,), file) from None
    except FileNotFoundError:
        known = tuple(sorted(base_name(each.name) for each in file.parent.glob("Base.*.yaml")))
        name = base_name(file.name)
        message = f"there is no {file.name} beside the stack file{did_you_mean(name, known)}"
        raise BaseFileError((Problem((BASE_KEY,), message, None, known),)) from None
    except OSError as error:
        raise BaseFileError((Problem(None, f"the file cannot be read: {error.strerror}"),), file) from None
