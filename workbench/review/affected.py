"""Determines which stacks a change can affect."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from components.stack_files.inheritance import base_name
from workbench.prices.price_file import OWN_FILE
from workbench.review.comparison import ChangedFile
from workbench.review.judges import ROWS, Row, altered
from workbench.stacks import FLEET_FILE
from workbench.stacks.policy_overrides import FILE

_STACK_FILE: Final = re.compile(r"Pulumi\.(.+)\.yaml")
_EXAMPLE: Final = re.compile(r"examples/([^/]+)/.*", re.DOTALL)
_NONE: Final = re.compile(rf"(docs|tests)/.*|.*\.md|{re.escape(OWN_FILE)}|{re.escape(FLEET_FILE)}", re.DOTALL)


def affected(
    files: Collection[ChangedFile], stacks: Mapping[str, str | None], overrides_before: Any, overrides_after: Any
) -> set[str]:
    """Return which of ``stacks`` a change can affect.

    A stack file, or a file next to it under ``examples``, affects its stack; a base affects the stacks that refine
    it; a row of the overrides affects the stack that it names; documents, tests, prices and the waves of a fleet affect
    none. Everything else may affect every stack.

    Parameters
    ----------
    files
        Changed files.
    stacks
        The stacks of the change by name, each with the path of its base; None without one.
    overrides_before, overrides_after
        The overrides before and after, from ``judges.overrides``.
    """
    paths = {path for file in files for path in (file.path, file.was) if path}
    return {stack for path in paths for stack in _of(path, stacks, overrides_before, overrides_after)} & set(stacks)


def gone(files: Collection[ChangedFile]) -> Iterator[tuple[ChangedFile, str]]:
    """Return each stack file that a change deletes or moves, with its stack."""
    for file in files:
        before = file.was or (file.path if file.is_gone else "")
        if stack := _stack_of(before):
            yield file, stack


def _stack_of(path: str) -> str:
    """Return the stack whose file is at a path; empty if it is not a stack file."""
    example = _EXAMPLE.fullmatch(path)
    named = _STACK_FILE.fullmatch(path.removeprefix(f"examples/{example[1]}/") if example else path)
    return named[1] if named and (not example or example[1] == named[1]) else ""


def _of(path: str, stacks: Mapping[str, str | None], base: Any, head: Any) -> Collection[str]:
    if stack := _stack_of(path):
        return {stack}
    if example := _EXAMPLE.fullmatch(path):
        return {example[1]}
    if base_name(path):
        return {name for name, refined in stacks.items() if refined == path}
    if _NONE.fullmatch(path):
        return set()
    return _of_overrides(stacks, base, head) if path == str(FILE) else stacks


def _of_overrides(stacks: Collection[str], base: Any, head: Any) -> Collection[str]:
    if not isinstance(base, Mapping) or not isinstance(head, Mapping):
        return stacks  # the differing rows cannot be determined
    others = {key for key in base.keys() | head.keys() if base.get(key) != head.get(key)} - set(ROWS)
    rows: list[Row] = [row for kind in ROWS for pair in altered(base, head, kind) for row in pair if row]
    named = {str(row.get("stack")) for row in rows}
    return stacks if others or not named <= set(stacks) else named
