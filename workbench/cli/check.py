"""`igz-clusters check`: checks the configuration and all rules in seconds."""

import gc
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench import stacks
from workbench.cli.console import PLAIN, out
from workbench.cli.options import AsJson
from workbench.stacks import StackFileError

if TYPE_CHECKING:
    from workbench.engine.check import Checked


def check(
    names: Annotated[
        list[str] | None, typer.Argument(help="Stacks to check. Default: all.", metavar="STACK", show_default=False)
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Check stacks against all rules in seconds, without the engine.

    Checks the stack file, then what the program declares, like `preview --render` and with the waivers of
    policies/overrides.yaml. Shows all findings at once, each cause once, and lists what only a preview can check. Exit
    code 1: a stack file is invalid, a mandatory rule is violated, or there is no stack.
    """
    gc.disable()  # the command ends within seconds; collecting takes a third of its time and frees little
    chosen = names or list(stacks.stack_files())
    if not chosen:
        raise stacks.none_found()
    stacks.require(*chosen)
    results = [_checked(name) for name in chosen]
    if as_json:
        problems = [row for result in results if result.error for row in result.error.rows]
        # One in a file that all stacks share is found for each of them.
        once = list({json.dumps(row): row for row in problems}.values())
        found = {"problems": once, "stacks": [_row(result) for result in results]}
        out.print_json(json.dumps(found), ensure_ascii=True)
    else:
        errors = dict.fromkeys(line for result in results if result.error for line in result.error.lines)
        for line in errors:  # of a file that all stacks share, once
            out.print(line, style="red", **PLAIN)
        for result in results:
            for line, style in _lines(result):
                out.print(line, style=style, **PLAIN)
    raise typer.Exit(1 if any(result.is_refused for result in results) else 0)


@dataclass(frozen=True)
class _Result:
    """Result for one stack: an invalid file, or an evaluation."""

    stack: str
    error: StackFileError | None = None
    checked: "Checked | None" = None

    @property
    def is_refused(self) -> bool:
        return self.error is not None or (self.checked is not None and self.checked.violations > 0)


def _checked(name: str) -> _Result:
    result = _Result(name)
    try:
        stack = stacks.find(name)
        # Imported here: an invalid file is reported before Pulumi's SDK is loaded.
        from workbench.engine.check import check as judge  # noqa: PLC0415

        return replace(result, checked=judge(stack))
    except StackFileError as error:
        return replace(result, error=error)


def _lines(result: _Result) -> Iterator[tuple[str, str]]:
    checked = result.checked
    if checked is None:
        return
    for each in checked.refused:
        yield f"refused: {each.urn.rpartition('::')[2]}: {each.path}: {each.reason}", "red"
    for cause in checked.causes:
        found = cause.finding
        yield f"{found.standing}: {found.rule} {found.message}", "red" if cause.is_failing else "yellow"
        for line in (cause.elsewhere, found.waiver, found.fix and f"Fix: {found.fix}", found.reference):
            if line:
                yield f"  {line}", ""
    counts = f"{_count(checked.violations, 'violation')}, {_count(checked.notes, 'note')}"
    yield f"{checked.stack}: {counts} ({checked.rules} rules, {checked.resources} resources)", "bold"
    yield f"  Not judged: {'; '.join(checked.not_judged)}.", ""


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _row(result: _Result) -> dict[str, Any]:
    row: dict[str, Any] = {"stack": result.stack, "passed": not result.is_refused}
    if (checked := result.checked) is None:
        return row
    return row | {
        "refused": [{"urn": each.urn, "path": each.path, "message": each.reason} for each in checked.refused],
        "findings": [
            {
                "rule": cause.finding.rule,
                "status": cause.finding.standing,
                "message": cause.finding.message,
                "fix": cause.finding.fix,
                "reference": cause.finding.reference,
                "waiver": cause.finding.waiver,
                "resources": list(cause.urns),
            }
            for cause in checked.causes
        ],
        "notJudged": list(checked.not_judged),
    }
