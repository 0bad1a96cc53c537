"""Commands on stack files: check them, explain their keys, show the configuration that applies."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from components.contract.choices import DECIDES
from components.contract.labels import is_dns_label
from components.stack_files.inheritance import base_name
from components.stack_files.yaml_source import inline
from infra.config import CONFIG_KEY
from infra.config.effective import Effective, effective
from infra.config.problems import nearest, path_text, shown
from infra.config.reference import all_keys
from infra.config.reference_page import default_of, values_of
from infra.config.tree import NAME, Key
from infra.config.warnings import warnings_of
from workbench import stacks
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.options import AsJson, StackName
from workbench.cli.verdicts import errors_are_no_verdict
from workbench.rehearsal.revision import stack_at
from workbench.report.terminal import print_rows
from workbench.stacks import bases
from workbench.stacks.difference import Difference, Value, differences
from workbench.stacks.origins import Origin
from workbench.system.errors import UserError

app = typer.Typer(help="Check stack files, explain keys, show the configuration.", no_args_is_help=True)

StackAtRevision = Annotated[
    str, typer.Argument(help="Name of a stack, or STACK@REVISION.", metavar="STACK[@REVISION]", show_default=False)
]

_SUGGESTED_MAX: Final = 5
_RULES_TOO: Final = "The files are valid. `igz-clusters check` also checks all rules."


@app.command()
def check(
    targets: Annotated[
        list[str] | None,
        typer.Argument(help="Stacks or files. Default: all bases and stacks of the folder.", metavar="STACK|FILE"),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Check stack files and report all problems at once.

    Bases are checked too. Each problem has its line. Reads files only: no engine, no network, no credentials. Exit code
    1 if there is a problem or no file. Warns of what would keep the first `up` of a new cluster from finishing, and of
    dangerous settings.
    """
    known = stacks.stack_files()
    files = [_file(target, known) for target in targets] if targets else [*bases.base_files(), *known.values()]
    if not files:
        raise stacks.none_found()
    read = {file: _read(file) for file in files}
    wrong = {file: found for file, found in read.items() if isinstance(found, stacks.StackFileError)}
    if as_json:
        _print_json(list({json.dumps(row): row for error in wrong.values() for row in error.rows}.values()))
    else:
        printed = set[str]()
        for file in files:
            for line in _result(file, wrong.get(file), printed):
                out.print(line, **PLAIN)
        for stack in read.values():
            for line in _remarks(stack) if isinstance(stack, stacks.Stack) else []:
                errors.print(line, **PLAIN)
        if not wrong:
            errors.print(_RULES_TOO, **PLAIN)
    raise typer.Exit(1 if wrong else 0)


def _file(target: str, known: dict[str, Path]) -> Path:
    if target in known:
        return known[target]
    if Path(target).exists() or target.endswith((".yaml", ".yml")) or "/" in target:
        return Path(target)
    return stacks.find(target).file  # raises, and lists the existing stacks


def _read(file: Path) -> stacks.Stack | stacks.StackFileError | None:
    """Return the stack of a file, None for a valid base, or what is wrong with it."""
    try:
        if not base_name(file.name):
            return stacks.read(file)
        bases.require_valid(file)
    except stacks.StackFileError as error:
        return error
    return None


def _result(file: Path, error: stacks.StackFileError | None, printed: set[str]) -> Iterator[str]:
    """Return the lines about a file; those about its base only once, and not for each of its stacks."""
    lines = error.lines if error else [f"{stacks.shown_path(file)}: ok"]
    new = [line for line in lines if line not in printed]
    printed.update(new)
    yield from new or [f"{stacks.shown_path(file)}: its base is invalid, see above"]


def _remarks(stack: stacks.Stack) -> Iterator[str]:
    warnings = (*stack.config.creation_problems, *warnings_of(stack.config))
    for kind, found in (("warning", warnings), ("note", stack.config.notes)):
        for each in found:
            yield f"{kind}: {stacks.shown_path(stack.file)}: {'.'.join(map(str, each.path))}: {each.message}"


@app.command()
def explain(
    key: Annotated[
        str, typer.Argument(help="A key such as pools.size.min or pools.gpu.labels; * matches any name.", metavar="KEY")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Explain a key of the stack file; without KEY, list all keys.

    Shows allowed values, the default and its reason, an example, and what the key decides.
    """
    found = _find(key) if key else list(all_keys())
    if as_json:
        _print_json([_facts(each) for each in found])
    elif key:
        for each in found:
            out.print(each.name, style="bold", **PLAIN)
            for name, fact in _facts(each).items():
                if name != "key" and fact:
                    out.print(f"  {name:<10}{fact if isinstance(fact, str) else ', '.join(fact)}", **PLAIN)
    else:
        for each in found:
            indent, meaning = "  " * (len(each.path) - 1), each.node.said.get("description", "")
            only = f" [{each.only_with.removeprefix('cluster.')}]" if each.only_with else ""
            out.print(f"{indent + each.path[-1]:<25} {meaning}{only}", **PLAIN)


def _find(text: str) -> list[Key]:
    """Return the matching key, once per meaning."""
    parts = tuple(part for part in re.sub(r"\[.*?\]", "", text).split(".") if part)
    if matching := [key for key in all_keys() if key.matches(parts)]:
        meant = max(matching, key=lambda key: len(set(key.path) - {NAME}))  # `pools.size` is not a pool called size
        return [key for key in matching if key.path == meant.path]
    names = {key.name.replace(f".{NAME}", ""): key for key in all_keys()}
    near = nearest(".".join(parts), names)
    end = nearest(parts[-1] if parts else "", {key.path[-1] for key in all_keys()})
    suggested = [name for name, key in names.items() if name == near or key.path[-1] == end][:_SUGGESTED_MAX]
    hint = f"Did you mean {' or '.join(suggested)}?" if suggested else "`igz-clusters config explain` lists all keys."
    raise UserError(f"Unknown key {shown(text)}.", hint)


def _facts(key: Key) -> dict[str, Any]:
    said = key.node.said
    example = said.get("examples", [None])[0]
    return {
        "key": key.name,
        "meaning": said.get("description", ""),
        "only with": key.only_with,
        "type": key.node.kind,
        "allowed": list(values_of(key.node)),
        "default": default_of(key).replace("`", ""),
        "example": "" if example is None else f"{key.path[-1]}: {inline(example)}",
        "decides": said.get(DECIDES, ""),
    }


@app.command()
def show(stack: StackName, *, as_json: AsJson = False) -> None:
    """Print the configuration that applies, with every default.

    Each default comes with its reason; where the stack file refines a base, each other value with its file and line.
    The output is a valid stack file that means the same, without the base; --json prints the settings only.
    """
    found = stacks.find(stack)
    if not as_json:
        out.print("\n".join(_lines(found)), **PLAIN)
        return
    defaults = [
        {"path": list(each.path), "reason": each.why_default}
        for each in effective(found.config)
        if each.why_default is not None
    ]
    config = found.config.model_dump(mode="json", by_alias=True)
    base = stacks.shown_path(found.base) if found.base else None
    origins = [{"path": list(path), **asdict(origin)} for path, origin in found.origins.items()]
    _print_json({"stack": found.name, "base": base, "config": config, "defaults": defaults, "origins": origins})


def _lines(stack: stacks.Stack) -> Iterator[str]:
    yield f"# {stacks.shown_path(stack.file)} with every default written out."
    others = ((key, value) for key, value in stack.document.items() if key != "config")
    yield from (f"{inline(key)}: {inline(value)}" for key, value in others)
    yield "config:"
    others = ((key, value) for key, value in stack.document["config"].items() if key != CONFIG_KEY)
    yield from (f"  {inline(key)}: {inline(value)}" for key, value in others)
    yield f"  {CONFIG_KEY}:"
    origins = stack.origins if stack.base else {}
    for each in effective(stack.config):
        yield "  " * (len(each.path) + 1) + _line(each, origins.get(each.path))


def _line(entry: Effective, origin: Origin | None) -> str:
    value = "" if entry.has_keys else f" {inline(entry.value)}"
    why = f"default: {entry.why_default}" if entry.why_default else "" if entry.has_keys or not origin else str(origin)
    return f"{inline(entry.path[-1])}:{value}" + (f"  # {why}" if why else "")


@app.command()
@errors_are_no_verdict()
def diff(left: StackAtRevision, right: StackAtRevision, *, as_json: AsJson = False) -> None:
    """Compare the configuration of two stacks.

    Compares the values that apply, including defaults and those of a base, and shows what sets each value.
    STACK@REVISION is a stack at a commit of its repository: `config diff dev@main dev` shows what the work in progress
    changes. The stack may have been deleted or renamed since that commit.
    Exit code 1 if something differs, 3 if one of them cannot be read.
    """
    found = differences(*(_at(each) for each in (left, right)))
    if as_json:
        _print_json({"left": left, "right": right, "differences": [_row(each) for each in found]})
    elif found:
        cells = ((path_text(each.path), _cell(each.left), _cell(each.right)) for each in found)
        print_rows(("key", left, right), cells, out)
    else:
        errors.print(f"{left} and {right} have the same configuration.", **PLAIN)
    raise typer.Exit(1 if found else 0)


def _at(text: str) -> stacks.Stack:
    """Return a stack, ``NAME`` or ``NAME@REVISION``; the latter may have been deleted or renamed since."""
    name, at, revision = text.partition("@")
    if not (at and is_dns_label(name)):
        return stacks.find(name)  # refuses names of another form
    file = stacks.stack_files().get(name, stacks.folder() / f"Pulumi.{name}.yaml")
    return stack_at(file, revision, text)


def _row(found: Difference) -> dict[str, Any]:
    return {"path": list(found.path), "left": _as_json(found.left), "right": _as_json(found.right)}


def _as_json(value: Value | None) -> dict[str, Any] | None:
    return asdict(value) if value else None


def _cell(value: Value | None) -> str:
    if value is None:
        return "-"
    return inline(value.value) + (f"  ({value.origin})" if value.origin else "")


def _print_json(value: Any) -> None:
    out.print_json(json.dumps(value), ensure_ascii=True)  # a key may contain control characters
