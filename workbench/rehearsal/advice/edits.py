"""Changes of a stack file and of a scenario's works, and the variants that result."""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from infra.config import ConfigurationError, KeyPath, parse
from infra.config.problems import path_text, problems_of
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.scenario.work import Work
from workbench.rehearsal.verdicts.verdict import SCENARIO, STACK, file_of
from workbench.stacks import CHOICES_PATH, Stack

_DURATIONS = ("runs_for",)
"""Fields of a work that its file writes as text and its model keeps as seconds."""


@dataclass(frozen=True)
class Edit:
    """One key and its new value.

    Parameters
    ----------
    path
        Keys below ``igz-clusters:stack`` of the stack file, or from the root of the scenario.
    value
        New value, as in YAML; None removes the key.
    why
        The hint's cause, as one sentence.
    """

    path: KeyPath
    value: Any
    why: str = ""

    @property
    def file(self) -> str:
        """``stack`` or ``scenario``: which file has the key."""
        return file_of(str(self.path[0]))

    @property
    def text(self) -> str:
        """The edit in words, such as ``pools.gpu.size.max: 6``."""
        where = path_text(self.path) + ("" if self.file == STACK else " of the scenario")
        return f"remove {where}" if self.value is None else f"{where}: {inline(self.value)}"


class UnfitError(ValueError):
    """The model of the stack file or scenario refuses a variant; the message lists its problems."""


def applied(document: Any, edits: Iterable[Edit], below: KeyPath = ()) -> Any:
    """Return a copy of a document with the edits made; missing mappings on the path of an edit are added."""
    changed = copy.deepcopy(document)
    for edit in edits:
        parent = changed
        for key in (*below, *edit.path[:-1]):
            parent = parent.setdefault(key, {}) if isinstance(parent, dict) else parent[int(key)]
        if edit.value is None:
            parent.pop(edit.path[-1], None)
        else:
            parent[edit.path[-1]] = copy.deepcopy(edit.value)
    return changed


def stack_with(stack: Stack, edits: Iterable[Edit]) -> Stack:
    """Return the stack with the edits that concern its file.

    Raises
    ------
    UnfitError
        The stack file would be invalid.
    """
    own = [edit for edit in edits if edit.file == STACK]
    document = applied(stack.document, own, CHOICES_PATH)
    choices = document
    for key in CHOICES_PATH:
        choices = choices[key]
    try:
        config = parse(choices)
    except ConfigurationError as error:
        raise UnfitError("; ".join(map(str, error.problems))) from None
    return replace(stack, document=document, config=config)


def scenario_with(scenario: Scenario, edits: Iterable[Edit]) -> Scenario:
    """Return the scenario with the edits of its works.

    Raises
    ------
    UnfitError
        A work would be invalid.
    """
    works = dict(scenario.works)
    for edit in edits:
        if edit.file == SCENARIO:
            name = str(edit.path[1])
            works[name] = _work_with(works[name], replace(edit, path=edit.path[2:]))
    return scenario.model_copy(update={"works": works})


def _work_with(work: Work, edit: Edit) -> Work:
    kept = {name: getattr(work, name) for name in _DURATIONS if name in work.model_fields_set}
    given = work.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=set(_DURATIONS))
    try:
        return Work.model_validate(applied(given, [edit])).model_copy(update=kept)
    except ValidationError as error:
        raise UnfitError("; ".join(map(str, problems_of(error, Work)))) from None


def inline(value: Any) -> str:
    """Return a value as YAML in one line, in the style of the stack files: ``{ min: 0, max: 4 }``, ``[a, b]``."""
    match value:
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case dict():
            entries = ", ".join(f"{inline(key)}: {inline(each)}" for key, each in value.items())
            return f"{{ {entries} }}" if entries else "{}"
        case list() | tuple():
            return f"[{', '.join(map(inline, value))}]"
        case str():
            return _plain(value)
        case _:
            return str(value)


_UNSAFE = set("{}[],&*#?|<>=!%@`\"'\\:\n\t")


def _plain(text: str) -> str:
    """Return a text without quotes if YAML reads it as the same text; otherwise in double quotes."""
    is_word = bool(text) and not set(text) & _UNSAFE and text[0].isalpha() and text == text.strip()
    if is_word and text.lower() not in {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
