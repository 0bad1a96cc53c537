"""Settings of a stack with those of its base, checked; each problem has its place in the file that contains it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from components.contract.environments import ClusterKind
from components.stack_files.base import BaseFile
from components.stack_files.inheritance import BaseFileError, Inherited, inherit
from components.stack_files.problem import KeyPath, Problem, nearest
from components.stack_files.yaml_source import Source
from infra.config.model import StackConfig
from infra.config.parse import ConfigurationError, parse
from infra.config.problems import problems_of
from infra.config.stack_file import StackFile

SECURE: Final = "secure"
"""Key under which the engine keeps an encrypted value."""

Named = Callable[[Path], str]
"""Returns a file's path as messages show it."""


def _name(file: Path) -> str:
    return file.name


def inherited(settings: Any, folder: Path, named: Named = _name) -> Inherited:
    """Return the settings of a stack with those of its base, after a check of the base.

    Keys and values of the base are checked one by one; ``parse`` checks them together, after merging.

    Parameters
    ----------
    settings, folder
        As for ``inherit``.
    named
        Returns the base's name in messages. Default: without its folder.

    Raises
    ------
    ConfigurationError
        The base cannot be used; lists all of its problems at once, with file and line.
    """
    problems: list[Problem] = []
    try:
        found = inherit(settings, folder)
        file, source = found.file, found.source
    except BaseFileError as error:
        file, source, problems = error.file, error.source, list(error.problems)
        if error.invalid:
            problems += _readable(problems_of(error.invalid, BaseFile), problems)
    if source:
        problems += _readable(_judged_alone(source.document), problems)
    if problems:
        raise ConfigurationError([_placed(each, file, source, each.path or (), named) for each in problems])
    return found


def placed(found: Inherited, problem: Problem, named: Named = _name) -> Problem:
    """Return a problem of merged settings with its place in the base; unchanged if the stack file has the value."""
    place = found.in_base(problem.path or ())
    return problem if place is None else _placed(problem, found.file, found.source, place, named)


def resolve(settings: Any, folder: Path) -> StackConfig:
    """Return the choices of a stack as passed by the engine, including those of its base.

    Raises
    ------
    ConfigurationError
        With every problem at once.
    """
    found = inherited(settings, folder)
    try:
        # Sorted, as the engine passes settings without a base.
        return parse(_sorted(found.settings) if found.file else found.settings)
    except ConfigurationError as error:
        raise ConfigurationError([placed(found, problem) for problem in error.problems]) from None


def encrypted(value: Any, path: KeyPath = ()) -> Iterator[Problem]:
    """Yield a problem for each encrypted value: the engine does not decrypt a base, and no setting is secret."""
    if isinstance(value, dict) and SECURE in value:
        yield Problem(path, "is encrypted, but these settings are not secret; write the value in plain text")
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from encrypted(entry, (*path, key))


def without_parts_of(wholes: Iterable[Problem], found: Iterable[Problem]) -> list[Problem]:
    """Return the problems that are not at or inside the place of another."""
    paths = {each.path for each in wholes}
    return [each for each in found if paths.isdisjoint(_with_parents(each.path or ()))]


def _with_parents(path: KeyPath) -> Iterator[KeyPath]:
    return (path[:length] for length in range(len(path) + 1))


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _placed(problem: Problem, file: Path | None, source: Source | None, place: KeyPath, named: Named) -> Problem:
    if file is None:
        return problem
    position = source.position(place) if source else None
    line, column = (position.line, position.column) if position else (None, None)
    path = problem.path or None  # a problem of the whole file
    return replace(problem, path=path, file=named(file), line=problem.line or line, column=problem.column or column)


def _readable(found: Iterable[Problem], unread: Iterable[Problem]) -> list[Problem]:
    """Return the problems that do not follow from a value that could not be read."""
    paths = {each.path for each in unread}
    return [each for each in found if each.path not in paths]


def _judged_alone(document: Any) -> Iterator[Problem]:
    """Yield the problems of a base's settings that no stack can solve."""
    layers = document.get("layers") if isinstance(document, Mapping) else None
    for index, layer in enumerate(layers if isinstance(layers, list) else ()):
        settings = layer.get("settings") if isinstance(layer, Mapping) else None
        if isinstance(settings, Mapping):
            secrets = list(encrypted(settings))
            wrong = without_parts_of(secrets, _wrong_for_all(settings, _kinds(layer.get("kinds"), settings)))
            for problem in (*secrets, *wrong):
                yield replace(problem, path=("layers", index, "settings", *(problem.path or ())))


def _kinds(chosen: Any, settings: Mapping[str, Any]) -> list[ClusterKind]:
    """Return the kinds whose stacks use the settings of a layer; only one, if the settings have no ``cluster``."""
    kinds = [kind for kind in ClusterKind if isinstance(chosen, list) and kind in chosen] or list(ClusterKind)
    return kinds if "cluster" in settings else kinds[:1]


def _wrong_for_all(settings: Mapping[str, Any], kinds: Iterable[ClusterKind]) -> Iterator[Problem]:
    """Yield the problems that settings have with each of the kinds: a key of one kind may be unknown to another."""
    found = [{each.path: each for each in _wrong(settings, kind)} for kind in kinds]
    for path in found[0]:
        if all(path in of_a_kind for of_a_kind in found):
            yield max((of_a_kind[path] for of_a_kind in found), key=_help)


def _help(problem: Problem) -> tuple[bool, int]:
    """Return how helpful a problem is: most if it lists a key similar to the given one."""
    is_alike = bool(problem.path and nearest(problem.path[-1], problem.allowed))
    return is_alike, len(problem.allowed)


def _wrong(settings: Mapping[str, Any], kind: ClusterKind) -> list[Problem]:
    cluster = settings.get("cluster", {})
    whole = {**settings, "cluster": {**cluster, "kind": kind.value} if isinstance(cluster, Mapping) else cluster}
    try:
        StackConfig.model_validate(whole)
    except ValidationError as error:
        return problems_of(error, StackFile, is_partial=True)
    return []
