"""Finds changes to files that judge this change or affect later runs; only owners can approve these."""

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, TypeAlias

from components.contract.policy_choices import SELECT_THE_RULES
from components.stack_files import yaml_source
from infra.config.problems import printable, shown
from workbench.report.model import JudgeChange
from workbench.review.comparison import ChangedFile
from workbench.stacks.policy_overrides import FILE

Row: TypeAlias = Mapping[str, Any]
"""A waiver or an approval from the file."""

ROWS: Final = ("waivers", "approvals")
"""Keys of the overrides that contain rows."""

_IDENTITY: Final = ("rule", "stack", "resource", "operation")
"""Keys that identify a row; the others say who accepts it, why and until when."""

_RULE: Final = re.compile(r"policies/rules/[^/]+/([a-z]{2})_(\d\d)_[^/]*\.py")
_DEFAULT: Final = object()
_LIST_MAX: Final = 300
"""Maximum number of characters shown of a list."""

HARMLESS: Final = re.compile(r"/?(.*/)?[^/]+\.md|(examples/[^/]+/)?(Pulumi|Base)\.[^/]+\.yaml", re.DOTALL)
"""Documents; stack files and their bases, whose plans are evaluated. Every other file needs a review by its owners."""

_OTHER: Final = "a file that later runs may read or execute"
_OTHERS_MAX: Final = 100
"""Maximum number of such files that are named."""

FILES: Final[Mapping[str, str]] = {
    # Includes the folders themselves, which may be links or submodules.
    r"policies(/.*)?": "code shared by the rules",
    r"components/contract(/.*)?": "the contract that rules check against",
    r"components/stack_files(/.*)?": "how stack files and their bases are read",
    r"(workbench/offline|tools/facts)(/.*)?": "the provider facts for plans without an account",
    r"workbench(/.*)?": "how later changes are evaluated and shown",
    r"(requirements\.txt|pyproject\.toml|setup\.(py|cfg))": "the packages that programs and rules use",
    r"(.*/)?CODEOWNERS": "who must approve changes",
    # With a leading slash if the stack files are in a subfolder of the repository.
    r"/?(\.github/(workflows|actions)/.*|\.gitlab-ci\.yml|\.ci/.*)": "what runs on a change",
    r"/?((GNUm|m|M)akefile|\.github/[^/]+\.mk)": "the commands that run on a change",
    r"prices\.json": "the prices that reports show",
    r"fleet\.yaml": "in which waves stacks are updated",
    r"package\.mk|\.igz-clusters(/.*)?": "the release of the package and its rules",
    r".*": _OTHER,
}
"""What the other files are for, by path pattern; the first match counts."""


def overrides(folder: Path) -> Any:
    """Return the unvalidated overrides of a folder of stack files, dates as text; None if they are invalid YAML."""
    file = folder / FILE
    try:
        return _plain(yaml_source.read(file).document or {}) if file.exists() else {}
    except (OSError, yaml_source.SourceError):
        return None


def rows(content: Any, kind: str) -> list[Row]:
    """Return the valid rows of a kind."""
    found = content.get(kind) if isinstance(content, Mapping) else None
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


def altered(base: Any, head: Any, kind: str) -> Iterator[tuple[Row | None, Row | None]]:
    """Return the differing rows before and after; None for a missing one."""
    before, after = rows(base, kind), rows(head, kind)
    gone, new = [row for row in before if row not in after], [row for row in after if row not in before]
    for row in new:
        was = next((each for each in gone if _identity(each) == _identity(row)), None)
        if was is not None:
            gone.remove(was)
        yield was, row
    yield from ((row, None) for row in gone)


def judge_changes(files: Collection[ChangedFile], base: Any, head: Any) -> list[JudgeChange]:
    """Return a change's alterations of its own checks: by row, by rule, and otherwise by file.

    Parameters
    ----------
    files
        Changed files.
    base, head
        The overrides before and after, from ``overrides``.
    """
    changes: set[JudgeChange] = set()
    for file in files:
        for path, verb in _touched(file):
            if path == str(FILE):
                changes.update(JudgeChange(path, what) for what in _of_overrides(base, head))
            elif rule := _RULE.fullmatch(path):
                changes.add(JudgeChange(path, f"{verb} rule {rule[1].upper()}-{rule[2]}"))
            elif what := _what(path):
                changes.add(JudgeChange(path, f"{verb} {what}"))
    others = sorted(change for change in changes if change.what.endswith(_OTHER))
    unnamed = others[_OTHERS_MAX:]
    rest = [JudgeChange("others", f"changes {len(unnamed)} more files")] if unnamed else []
    return sorted([*changes.difference(unnamed), *rest])


def choice_changes(file: str, stack: str, base: Row, head: Row) -> Iterator[JudgeChange]:
    """Return the changes of a stack file's settings that affect its evaluation.

    Parameters
    ----------
    file
        Path of the stack file.
    stack
        Name of the stack.
    base, head
        The file's content under ``CONFIG_KEY``, before and after.
    """
    before, after = _flat("", base), _flat("", head)
    for key in sorted(before.keys() | after.keys()):
        if key.partition(".")[0] in SELECT_THE_RULES and before.get(key, _DEFAULT) != after.get(key, _DEFAULT):
            was, now = (_said(content[key]) if key in content else "its default" for content in (before, after))
            yield JudgeChange(file, f"changes {key} of {stack}, which affects its rules, from {was} to {now}")


def _said(value: Any) -> str:
    """Return a short form of a value; lists with their entries."""
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
    if HARMLESS.fullmatch(path):
        return ""
    return next(what for pattern, what in FILES.items() if re.fullmatch(pattern, path, re.DOTALL))


def _of_overrides(base: Any, head: Any) -> Iterator[str]:
    if not isinstance(head, Mapping):
        yield "cannot be read"
    for kind in ROWS:
        for before, after in altered(base, head, kind):
            if before and after:
                yield f"alters {_named(kind, after)}; it was {_named(kind, before)}"
            elif row := after or before:
                yield f"{'adds' if after else 'removes'} {_named(kind, row)}"
    was, now = (_listed(content, "remediate") for content in (base, head))
    yield from (f"lets rule {rule} remediate violations" for rule in sorted(now - was))
    yield from (f"stops rule {rule} from remediating violations" for rule in sorted(was - now))


def _named(kind: str, row: Row) -> str:
    what = (
        f"for {row.get('rule')} on {row.get('resource')}"
        if kind == "waivers"
        else f"to {row.get('operation')} {row.get('resource')}"
    )
    who, until = f"{row.get('ticket')} of {row.get('owner')}", row.get("expires")
    return f"the {kind.removesuffix('s')} {who} {what} in {row.get('stack')} until {until}"


def _listed(content: Any, key: str) -> set[str]:
    found = content.get(key) if isinstance(content, Mapping) else None
    return {str(each) for each in found} if isinstance(found, list) else set()


def _identity(row: Row) -> list[Any]:
    return [row.get(key) for key in _IDENTITY]


def _plain(value: Any) -> Any:
    """Return a YAML value in JSON types."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value
