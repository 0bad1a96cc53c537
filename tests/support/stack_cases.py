"""Bad stack files with the whole messages that answer them, kept as what differs from a base.

A file ``tests/infra/cases/<subject>.yaml`` maps names, which are the tests' ids and unique across all files, to cases::

    role-near-miss:
      like: local-workload
      but: {pools: {workload: {role: worklod}}}
      problems:
      - "pools.workload.role: unknown value, did you mean 'workload'? (given: 'worklod'; ...)"

``like`` names a base of ``bases.yaml``. ``but`` changes it as in the examples of policies:
maps are merged, ``null`` drops a key, a map of numbers changes elements of a list by their place, anything else
replaces. ``<null>`` stands for a null in the stack file. A case whose document resembles no base has ``given`` instead
of both. ``problems`` lists every message in full, in order; ``<eks-minors>`` stands there for the minors of Kubernetes
that EKS offers. Bases have no problems: they are valid stack files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from typing_extensions import override

from components.contract import kubernetes_minors
from policies.examples import changed

FOLDER: Final = Path(__file__).parent.parent / "infra" / "cases"
BASES: Final = "bases.yaml"
NULL_TEXT: Final = "<null>"
"""Stands for a null: a bare one in ``but`` drops its key."""

STANDING_FOR: Final = {
    "<eks-minors>": ", ".join(kubernetes_minors.offered("eks")),
    "<aks-minors>": ", ".join(kubernetes_minors.offered("aks")),
}
"""What a new minor of Kubernetes would change in many messages."""


class CaseFileError(Exception):
    """A case file with a mistake; the message names file, case and what to do."""


@dataclass(frozen=True)
class Case:
    """A stack file's choices, and the messages that answer them."""

    name: str
    document: Any
    """The choices; anything that YAML can hold, since some cases are no mapping."""
    problems: tuple[str, ...]


@cache
def load(folder: Path = FOLDER) -> tuple[Case, ...]:
    """Return the cases of all files, by name.

    Raises
    ------
    CaseFileError
        For the first mistake in a case file.
    """
    documents = bases(folder)
    cases: dict[str, Case] = {}
    for file in sorted(folder.glob("*.yaml")):
        for name, entry in entries_of(file).items() if file.name != BASES else ():
            if name in cases:
                raise CaseFileError(f"{file.name}: {name}: another file has a case of this name; rename one")
            problems = entry.pop("problems", None)
            if not problems or not all(isinstance(problem, str) for problem in problems):
                raise CaseFileError(f"{file.name}: {name}: 'problems' must list at least one message as text")
            cases[name] = Case(name, _document(f"{file.name}: {name}", entry, documents), tuple(problems))
    return tuple(cases[name] for name in sorted(cases))


def bases(folder: Path = FOLDER) -> dict[str, Any]:
    """Return the documents that cases are like, by name; a base may be like one above it."""
    documents: dict[str, Any] = {}
    for name, entry in entries_of(folder / BASES).items():
        documents[name] = _document(f"{BASES}: {name}", entry, documents)
    return documents


def _document(where: str, entry: Mapping[str, Any], documents: Mapping[str, Any]) -> Any:
    if set(entry) == {"given"}:
        return entry["given"]
    if set(entry) != {"like", "but"}:
        raise CaseFileError(f"{where}: has the keys {', '.join(entry)}; needs 'like' and 'but', or 'given' alone")
    if entry["like"] not in documents:
        raise CaseFileError(f"{where}: no base {entry['like']!r}; allowed: {', '.join(documents)}")
    start = documents[entry["like"]]
    document = _with_nulls(changed(start, entry["but"]))
    if repr(document) == repr(start):  # for ==, true is 1
        raise CaseFileError(f"{where}: 'but' changes nothing of {entry['like']!r}")
    return document


def _with_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_nulls(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_nulls(item) for item in value]
    return None if value == NULL_TEXT else value


def entries_of(file: Path) -> dict[str, dict[str, Any]]:
    text = file.read_text(encoding="utf-8")
    for short, meant in STANDING_FOR.items():
        text = text.replace(short, meant)
    try:
        entries = yaml.load(text, Loader=_UniqueKeys)  # noqa: S506 it is a safe loader
    except yaml.YAMLError as error:
        raise CaseFileError(f"{file.name}: {error}") from None
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise CaseFileError(f"{file.name}: {name}: must be a mapping with 'problems' and what they are about")
    return dict(entries)


class _UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Refuses a key given twice, of which YAML would silently keep the last."""

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if (key.tag, key.value) in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is given twice", key.start_mark)
            seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return]
