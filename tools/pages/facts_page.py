"""The parts of the pages about inputs that all clouds share: figures, assumptions and sources."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from workbench.offline.facts import ALL_OTHERS, Call, Facts, Marked, Refusal, Resource, Retried, Statement
from workbench.offline.input_paths import INTO, around

QUESTIONS: Final = {
    "declared": "type",
    "replaced": "what the plug-in plans for another value",
    "change": "another value",
    "absent": "left out",
    "cleared": "how to clear it",
    "read": "refresh",
}
"""Questions of statements, as the lists name them."""

Row: TypeAlias = tuple[str, str, str]
"""Title, question and answer of a row that lists the inputs with that answer."""


def questions(known: Resource, path: str) -> list[str]:
    """Return the questions of ``Statement`` that an input must answer.

    A part of the id cannot change in place, be left out or be read back; what the plug-in replaces never changes in
    place; what is required is never left out; what the cloud does not keep needs no clearing. Terraform's resources
    have no answer to what AWS does with another value: the plug-in plans it.
    """
    found = known.inputs[path]
    if found.is_in_id:
        return ["declared", "replaced"]
    is_replaced = any(known.inputs[each].change == "replace" for each in around(path))
    absent = None if found.required else known.said(path, "absent")
    asked = {
        "change": bool(found.place) and not is_replaced,
        "absent": not found.required,
        "cleared": absent is not None and absent.answer in {"keeps", "stays"},
        "read": True,
    }
    return ["declared", "replaced", *(question for question, applies in asked.items() if applies)]


def answered(known: Resource) -> Mapping[Statement, list[str]]:
    """Return the inputs of which each statement is the answer."""
    found: dict[Statement, list[str]] = {each: [] for each in (*known.says, *known.common.says)}
    for path in known.inputs:
        for answer in (known.said(path, question) for question in questions(known, path)):
            if answer:
                found[answer].append(path)
    return {each: paths for each, paths in found.items() if paths}


def others(known: Resource) -> list[Call | Retried | Refusal]:
    """Return what is said of a type in addition to its inputs."""
    return [*known.operations(), *known.retries, *known.errors]


def counted(known: Resource) -> tuple[int, int]:
    """Return how many facts about a type have a source, and how many are assumed."""
    facts: list[Marked] = [*others(known)]
    facts += (each for each, paths in answered(known).items() if each.question != "declared" for _ in paths)
    sourced = sum(bool(each.source) for each in facts)
    return sourced, len(facts) - sourced


def figures(facts: Facts[Any]) -> Iterator[str]:
    """Yield the section that counts the facts about each type."""
    yield "## How many facts have a source"
    yield ""
    yield "A fact is the answer to one question about one input, the calls of an operation, what is tried again, or"
    yield "a refusal. Names, types and which inputs are required come from the classes of the release, and are not"
    yield "counted."
    yield ""
    yield "| type | with a source | assumed |"
    yield "|---|---|---|"
    every = {short(type_): counted(known) for type_, known in facts.resources.items()}
    every["all"] = (sum(sourced for sourced, _ in every.values()), sum(assumed for _, assumed in every.values()))
    yield from (f"| {name} | {sourced} | {assumed} |" for name, (sourced, assumed) in every.items())
    yield ""


def assumed(facts: Facts[Any], table: str) -> Iterator[str]:
    """Yield the section that lists assumptions to test in an account; results belong in ``table``."""
    yield "## Assumed"
    yield ""
    yield f"These have no source. Test them in an account, and add the result as a source to `{table}`."
    yield ""
    for type_, known in facts.resources.items():
        lines = [
            f"{each.assumed}: {QUESTIONS[each.question]}, {each.answer}? {listed(_outermost(each, paths))}"
            for each, paths in answered(known).items()
            if each.assumed
        ]
        lines += [f"{each.assumed}: {_text(each)}?" for each in others(known) if each.assumed]
        if lines:
            yield f"**{short(type_)}**"
            yield ""
            yield from (f"- [ ] {line}" for line in lines)
            yield ""


def sources(facts: Facts[Any]) -> Iterator[str]:
    """Yield the section that lists the sources."""
    yield "## Sources"
    yield ""
    yield "| source | of |"
    yield "|---|---|"
    for key, each in facts.sources.items():
        at = (
            f"<{each.page}>, {each.date}"
            if each.page
            else f"{each.repository} `{each.file}`, {each.version}, {each.year}"
        )
        yield f"| {key} | {at} |"


def behaviour(known: Resource, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the rows about what plug-in and cloud do, with their sources; assumptions have none."""
    found = answered(known)
    for title, question, answer in rows:
        those = {each: paths for each, paths in found.items() if (each.question, each.answer) == (question, answer)}
        if those:
            said = (_said(each, _outermost(each, paths), known) for each, paths in those.items())
            yield f"| {title} | {'; '.join(said)} |"
    calls = [each for each in known.operations() if each.operation != "order"]
    for title, facts in {
        "Calls": [f"{each.operation}: {_text(each)}{_mark(each, known)}" for each in calls],
        "Order of a replacement": [f"{_text(each)}{_mark(each, known)}" for each in known.calls if each not in calls],
        "Tried again": [f"{_text(each)}{_mark(each, known)}" for each in known.retries],
        "Refusals": [f"{_text(each)}{_mark(each, known)}" for each in known.errors],
    }.items():
        if facts:
            yield f"| {title} | {'; '.join(facts)} |"


def _said(found: Statement, paths: Iterable[str], known: Resource) -> str:
    to = f", to {str(found.to).lower()}" if found.to is not None else ""
    note = f", {found.note}" if found.note else ""
    return f"{'all others' if ALL_OTHERS in found.of else listed(paths)}{to}{note}{_mark(found, known)}"


def _mark(found: Marked, known: Resource) -> str:
    """Return the source in brackets; the file that the section names needs none."""
    return "" if found.source == known.source else f" ({found.source or 'assumed'})"


def _text(each: Call | Retried | Refusal) -> str:
    if isinstance(each, Call):
        return ", ".join(each.answer)
    if isinstance(each, Refusal):
        return f"{each.status} `{each.code}` when {each.when}: {each.instead}"
    parts = (*map(str, each.status), f"`{each.request}`" if each.request else "", each.code)
    message, seconds = f' "{each.message}"' if each.message else "", f", {each.seconds} s" if each.seconds else ""
    return " ".join(filter(None, parts)) + message + seconds


def _outermost(found: Statement, paths: Iterable[str]) -> list[str]:
    """Return the inputs as a statement names them; of one about all others, those that are inside no other one."""
    if ALL_OTHERS in found.of:
        return list(dict.fromkeys(path.partition(".")[0].rstrip(INTO) for path in paths))
    return [path for path in found.of if not set(around(path)[1:]) & {*found.of}]


def short(type_: str) -> str:
    """Return a type without its package."""
    return type_.partition(":")[2]


def listed(paths: Iterable[str]) -> str:
    """Return names of inputs as code, ``-`` if there are none."""
    return ", ".join(f"`{path}`" for path in paths) or "-"


def main(module: str, target: Path, page: Callable[[], str], arguments: Sequence[str]) -> None:
    """Run the command line of a page."""
    if list(arguments) != ["--write"]:
        sys.exit(f"usage: python -m {module} --write")
    target.write_text(page(), encoding="utf-8")
