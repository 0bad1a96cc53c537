"""Statements of a facts table about inputs, calls and refusals, with a source or marked as assumed; for generators.

A table must answer every question about every input, or the tests refuse it: nothing is true by default. In a table a
statement has one or more keys of ``ANSWERS``, each ``true`` or a text: what to give to clear the input with
``cleared_with``, otherwise when it is so.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import yaml
from pydantic import BeforeValidator, TypeAdapter

from tools.facts.sdk_inputs import Declared
from workbench.offline.facts import ALL_OTHERS, Call, Marked, Refusal, Retried, Source, Statement
from workbench.system.errors import UserError

ANSWERS: Final[Mapping[str, tuple[str, str]]] = {
    "declared": ("declared", "declared"),
    "updates": ("replaced", "update"),
    "replaces": ("replaced", "replace"),
    "replaces_if_removed": ("replaced", "replace if removed"),
    "replaces_once_set": ("replaced", "replace once set"),
    "replaces_as_one": ("replaced", "replace if exchanged"),
    "ignored": ("replaced", "ignored"),
    "accepted": ("change", "accepted"),
    "refused": ("change", "refused"),
    "keeps": ("absent", "keeps"),
    "resets": ("absent", "resets"),
    "stays": ("absent", "stays"),
    "refuses_absence": ("absent", "refused"),
    "cleared_with": ("cleared", ""),
    "never_cleared": ("cleared", "never"),
    "read_back": ("read", "read back"),
    "not_read_back": ("read", "not read back"),
}
"""Question and answer of each key of a statement; without an answer the text is it."""


def _said(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one statement for each answer."""
    found = []
    for each in given:
        rest = {key: value for key, value in each.items() if key not in ANSWERS}
        for key in (key for key in each if key in ANSWERS):
            question, answer = ANSWERS[key]
            note = {"note": each[key]} if answer and each[key] is not True else {}
            found.append({**rest, **note, "question": question, "answer": answer or each[key]})
        if len(rest) == len(each):
            raise ValueError(f"must have one of {', '.join(ANSWERS)}")
    return found


def _called(given: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "operation": operation} for operation, each in given.items()]


Says: TypeAlias = Annotated[tuple[Statement, ...], BeforeValidator(_said)]
"""The list ``says`` of a table."""

Calls: TypeAlias = Annotated[tuple[Call, ...], BeforeValidator(_called)]
"""The map ``calls`` of a table, by operation."""

for _part in (Source, Statement, Call, Retried, Refusal):
    _part.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[union-attr]


def sources(table: Path) -> dict[str, Source]:
    """Return the sources of a file."""
    return TypeAdapter(dict[str, Source]).validate_python(yaml.safe_load(table.read_text(encoding="utf-8")))


def row(fact: Marked | Source) -> dict[str, Any]:
    """Return a fact or a source as a file has it, without what is empty."""
    return {each.name: value for each in fields(fact) if (value := getattr(fact, each.name)) != each.default}


def rows(**parts: Iterable[Marked]) -> dict[str, list[dict[str, Any]]]:
    """Return the lists of facts about a type that are not empty."""
    found = {key: [row(each) for each in part] for key, part in parts.items()}
    return {key: each for key, each in found.items() if each}


def refuse_unknown(table: str, resource: str, named: Iterable[str], declared: Iterable[Declared]) -> None:
    """Refuse a table that names inputs which a resource does not have.

    Raises
    ------
    UserError
        It does; all of them are listed.
    """
    if unknown := sorted({*named} - {ALL_OTHERS} - {each.path for each in declared}):
        raise UserError(f"{table} names inputs that {resource} does not have: {', '.join(unknown)}")


def named(says: Iterable[Statement]) -> Iterator[str]:
    """Return the inputs of statements."""
    return (path for each in says for path in each.of)
