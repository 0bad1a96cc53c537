"""What a change alters in what judges it: shown first, since owners and no program can say whether it is right."""

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, TypeAlias

from infra.config.problems import printable, shown
from workbench.report.model import JudgeChange
from workbench.review.comparison import ChangedFile
from workbench.stacks import yaml_source
from workbench.stacks.policy_overrides import FILE

Row: TypeAlias = Mapping[str, Any]
"""A waiver or an approval, as the file has it."""

ROWS: Final = ("waivers", "approvals")
"""Keys of the overrides that hold rows."""

_IDENTITY: Final = ("rule", "stack", "resource", "operation")
"""What a row is about; its other keys say who accepts that, why and until when."""

_RULE: Final = re.compile(r"policies/rules/[^/]+/([a-z]{2})_(\d\d)_[^/]*\.py")
_EXAMPLES: Final = re.compile(r"policies/rules/([^/]+/examples|bases)/.*|.*\.md", re.DOTALL)
_PACKAGE_PIN: Final = "package.mk"
_DEFAULT: Final = object()
_LIST_MAX: Final = 300
"""Characters of a list that are shown."""

CHOICES: Final = frozenset({"environment", "profile", "policies", "policyGuard"})
"""Choices of a stack file that decide which rules judge the stack, how firmly, and by which bounds."""

FILES: Final[Mapping[str, str]] = {
    # The folders themselves too: each may be a link or a submodule.
    r"policies(/.*)?": "what the rules share",
    r"components/contract(/.*)?": "the words that rules judge by",
    r"(workbench/offline|tools/facts)(/.*)?": "the facts by which plans without an account are made",
    r"workbench/((review|report)(/.*)?|engine/policy_analysis\.py|stacks/policy_overrides\.py)": (
        "how later changes are judged and shown"
    ),
    r"(requirements\.txt|pyproject\.toml)": "the packages that programs and rules run with",
    r"(.*/)?CODEOWNERS": "who must approve changes",
    # With the slash: of a repository whose stack files lie in a folder of it.
    r"/?(\.github/(workflows|actions)/.*|\.gitlab-ci\.yml|\.ci/.*)": "what runs on a change",
    r"/?(Makefile|\.github/[^/]+\.mk)": "the commands that run on a change",
    _PACKAGE_PIN.replace(".", r"\."): "the release of the package, its rules with it",
}
"""What judges, beside rules and rows: pattern of the path, and what it is. The first that fits counts."""


def overrides(folder: Path) -> Any:
    """Return what the overrides of a folder of stack files say, unchecked, dates as text; None if they are no YAML."""
    file = folder / FILE
    try:
        return _plain(yaml_source.read(file).document or {}) if file.exists() else {}
    except (OSError, yaml_source.SourceError):
        return None


def rows(said: Any, kind: str) -> list[Row]:
    """Return the rows of a kind, without those that are none."""
    found = said.get(kind) if isinstance(said, Mapping) else None
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


def altered(base: Any, head: Any, kind: str) -> Iterator[tuple[Row | None, Row | None]]:
    """Return the rows that differ, each before and after; None where there is none."""
    before, after = rows(base, kind), rows(head, kind)
    gone, new = [row for row in before if row not in after], [row for row in after if row not in before]
    for row in new:
        was = next((each for each in gone if _identity(each) == _identity(row)), None)
        if was is not None:
            gone.remove(was)
        yield was, row
    yield from ((row, None) for row in gone)


def judge_changes(files: Collection[ChangedFile], base: Any, head: Any) -> list[JudgeChange]:
    """Return what a change alters in its judge: rows one by one, rules one by one, everything else by file.

    Parameters
    ----------
    files
        What differs.
    base, head
        The overrides before and after, as ``overrides`` reads them.
    """
    found: set[JudgeChange] = set()
    for file in files:
        for path, verb in _touched(file):
            if path == str(FILE):
                found.update(JudgeChange(path, what) for what in _of_overrides(base, head))
            elif rule := _RULE.fullmatch(path):
                found.add(JudgeChange(path, f"{verb} rule {rule[1].upper()}-{rule[2]}"))
            elif what := _what(path):
                found.add(JudgeChange(path, f"{verb} {what}"))
    return sorted(found)


def choice_changes(file: str, stack: str, base: Row, head: Row) -> Iterator[JudgeChange]:
    """Return what a stack file changes in the choices by which its stack is judged.

    Parameters
    ----------
    file
        Path of the stack file.
    stack
        Name of the stack.
    base, head
        What the file says under ``CONFIG_KEY``, before and after.
    """
    before, after = _flat("", base), _flat("", head)
    for key in sorted(before.keys() | after.keys()):
        if key.partition(".")[0] in CHOICES and before.get(key, _DEFAULT) != after.get(key, _DEFAULT):
            was, now = (_said(said[key]) if key in said else "its default" for said in (before, after))
            yield JudgeChange(file, f"changes {key} of {stack}, by which it is judged, from {was} to {now}")


def _said(value: Any) -> str:
    """Return a choice in short; of a list its entries, since one more may be all that changes."""
    return printable(f"[{', '.join(map(shown, value))}]", _LIST_MAX) if isinstance(value, list) else shown(value)


def _flat(path: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {path: value}
    inside = (_flat(f"{path}.{name}" if path else str(name), inner) for name, inner in value.items())
    return {key: leaf for leaves in inside for key, leaf in leaves.items()}


def _touched(file: ChangedFile) -> Iterator[tuple[str, str]]:
    if file.was:
        yield file.was, "removes"
    yield file.path, "removes" if file.is_gone else "changes"


def _what(path: str) -> str:
    if _EXAMPLES.fullmatch(path):
        return ""
    return next((what for pattern, what in FILES.items() if re.fullmatch(pattern, path, re.DOTALL)), "")


def _of_overrides(base: Any, head: Any) -> Iterator[str]:
    if not isinstance(head, Mapping):
        yield "cannot be read"
    for kind in ROWS:
        for before, after in altered(base, head, kind):
            if before and after:
                yield f"alters {_named(kind, after)}; it was {_named(kind, before)}"
            elif row := after or before:
                yield f"{'adds' if after else 'removes'} {_named(kind, row)}"
    was, now = (_listed(said, "remediate") for said in (base, head))
    yield from (f"lets rule {rule} mend what it finds" for rule in sorted(now - was))
    yield from (f"lets rule {rule} no longer mend what it finds" for rule in sorted(was - now))


def _named(kind: str, row: Row) -> str:
    what = (
        f"for {row.get('rule')} on {row.get('resource')}"
        if kind == "waivers"
        else f"to {row.get('operation')} {row.get('resource')}"
    )
    who, until = f"{row.get('ticket')} of {row.get('owner')}", row.get("expires")
    return f"the {kind.removesuffix('s')} {who} {what} in {row.get('stack')} until {until}"


def _listed(said: Any, key: str) -> set[str]:
    found = said.get(key) if isinstance(said, Mapping) else None
    return {str(each) for each in found} if isinstance(found, list) else set()


def _identity(row: Row) -> list[Any]:
    return [row.get(key) for key in _IDENTITY]


def _plain(value: Any) -> Any:
    """Return a value of YAML as JSON can say it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value
