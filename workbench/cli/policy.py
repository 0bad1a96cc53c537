"""Commands on the policies: list them, explain them, check a state or examples against them."""

import difflib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml
from rich.table import Table
from rich.text import Text

from components.contract.environments import Environment
from policies.examples import FOLDER, Example, load_file
from policies.registry import RULES
from policies.rule import Rule
from policies.unknown_policy import UNKNOWN_VARIABLE
from workbench.cli.console import PLAIN, errors, out, row_of_fields
from workbench.cli.options import AsJson
from workbench.cli.policy_catalogue import Entry, catalogue, entry
from workbench.engine.policy_analysis import TOOLS, analyse
from workbench.system.errors import UserError
from workbench.toolchain import ensure
from workbench.toolchain.console import progress

if TYPE_CHECKING:
    from policies.pack_harness import Report

app = typer.Typer(help="List and explain the policies; check a state or examples against them.", no_args_is_help=True)


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List all rules with their levels and where they are enforced.

    Recommendations that no rule can enforce are listed too. In a pipe: one line per rule, separated by tabs.
    """
    entries = catalogue()
    if as_json:
        out.print_json(json.dumps([asdict(each) for each in entries]))
        return
    rows = [_list_row(each) for each in entries]
    if not out.is_terminal:  # one line a rule: grep needs columns that are not cut
        for row in rows:
            row_of_fields(row)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "dev", "prod", "enforced at", "demands"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    out.print(table)


def _list_row(each: Entry) -> tuple[str, ...]:
    where = ", ".join(each.enforced_at) or f"nowhere: {each.reason}"
    return each.id, each.level.get("dev", ""), each.level.get("prod", ""), where, each.demands


@app.command()
def explain(
    rule_id: Annotated[str, typer.Argument(help="Such as NG-07.", metavar="ID")], *, as_json: AsJson = False
) -> None:
    """Explain a rule, with an example that passes and one that fails.

    Shows source, reason, levels and fix too.
    """
    found = entry(rule_id)
    rule = next((rule for rule in RULES if rule.id == found.id), None)
    examples = {kind: example for kind in ("good", "bad") if rule and (example := _example(rule, kind))}
    if as_json:
        shown = {kind: {"about": e.content["about"], "resources": _resources(e)} for kind, e in examples.items()}
        out.print_json(json.dumps({**asdict(found), "examples": shown}))
        return
    out.print(f"{found.id}: {found.demands}", style="bold", **PLAIN)
    for name, fact in _facts(found).items():
        out.print(f"  {name:<12}{fact}", **PLAIN)
    if examples:
        _show(found.id, **examples)


def _show(rule_id: str, good: Example, bad: Example) -> None:
    """Print the good example, the difference to the bad one, and the rule's message about the bad one."""
    passes, fails = (yaml.safe_dump(_resources(e), sort_keys=False).splitlines() for e in (good, bad))
    out.print(f"\npasses: {good.content['about']}", style="bold", **PLAIN)
    out.print("\n".join(passes), **PLAIN)
    out.print(f"\nfails: {bad.content['about']}", style="bold", **PLAIN)
    changes = list(difflib.unified_diff(passes, fails, n=1, lineterm=""))[2:]
    out.print("\n".join(changes if len(changes) < len(fails) else fails), **PLAIN)
    said = [message for message in _judge(bad).messages if f"[{rule_id}]" in message]
    out.print("\n  " + said[0].partition("\n")[2], style="red", **PLAIN)


def _facts(found: Entry) -> dict[str, str]:
    return {
        key: text
        for key, text in {
            "severity": found.severity,
            "levels": ", ".join(f"{environment} {level}" for environment, level in found.level.items()),
            "enforced at": ", ".join(found.enforced_at) or f"nowhere: {found.reason}",
            "source": found.source,
            "why": found.why,
            "fix": found.fix,
        }.items()
        if text
    }


def _example(rule: Rule[Any], kind: str) -> Example | None:
    [file] = FOLDER.glob(f"*/examples/{rule.anchor}.yaml")
    return next((example for example in load_file(file) if example.kind == kind), None)


def _resources(example: Example) -> list[dict[str, Any]]:
    return [{"resource": given.type, "name": given.name, "props": given.props} for given in example.resources]


@app.command()
def check(
    state: Annotated[Path, typer.Argument(help="File that `pulumi stack export` wrote.", metavar="STATE")],
    *,
    environment: Annotated[
        Environment, typer.Option(help="Environment of the cluster; the state does not contain it.")
    ] = Environment.PROD,
    as_json: AsJson = False,
) -> None:
    """Evaluate an exported state with both packs.

    Needs no login and no cloud. Exit code 1 if a mandatory rule is violated.
    """
    with progress(errors) as report:
        toolchain = ensure(TOOLS, progress=report)
    verdicts = analyse(state, environment, toolchain)
    mandatory = sum(verdict.level == "mandatory" for verdict in verdicts)
    if as_json:
        out.print_json(json.dumps([asdict(verdict) for verdict in verdicts]), ensure_ascii=True)
    else:
        for verdict in verdicts:
            colour = "red" if verdict.level == "mandatory" else "yellow"
            out.print(f"{verdict.level}: {verdict.urn or 'the stack'}", style=colour, **PLAIN)
            out.print(f"  {verdict.message}", **PLAIN)
        out.print(
            f"{len(RULES)} rules, judged as {environment}: {mandatory} violations, {len(verdicts) - mandatory} notes"
        )
    raise typer.Exit(1 if mandatory else 0)


@app.command("test")
def run_examples(
    folder: Annotated[Path, typer.Argument(help="Folder with files of examples, named <id>.yaml.", metavar="DIR")],
    *,
    as_json: AsJson = False,
) -> None:
    """Evaluate examples and compare the results with the expected ones.

    An example is a resource as data; docs/writing-a-rule.md describes the format. Exit code 1 if a result differs.
    """
    files = sorted(folder.rglob("*.yaml"))
    rows = [_compared(example) for file in files for example in _read(file)]
    if not rows:
        raise UserError(
            f"There is no example in {folder}.", "Name the files <id>.yaml; docs/writing-a-rule.md has the details."
        )
    differing = [row for row in rows if row["said"] != row["expected"]]
    if as_json:
        out.print_json(json.dumps(rows))
    else:
        for row in differing:
            out.print(f"{row['example']}: expected {_outcome(row['expected'])}, got {_outcome(row['said'])}", **PLAIN)
        out.print(f"{len(rows)} examples: {len(rows) - len(differing)} as expected, {len(differing)} differ")
    raise typer.Exit(1 if differing else 0)


def _read(file: Path) -> list[Example]:
    try:
        found = list(load_file(file))
        for example in found:
            _ = example.resources
    except (yaml.YAMLError, OSError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise UserError(
            f"{file}: not a file of examples: {type(error).__name__} {error}.",
            "docs/writing-a-rule.md describes the format.",
        ) from None
    return found


def _judge(example: Example) -> "Report":
    # Imported here: it loads Pulumi's SDK, which no other command needs.
    from policies.pack_harness import judge  # noqa: PLC0415

    os.environ[UNKNOWN_VARIABLE] = "note"  # as examples have it, in CI too
    return judge(example)


def _compared(example: Example) -> dict[str, Any]:
    return {"example": f"{example.rule}/{example.name}", "expected": example.outcome, "said": _judge(example).outcome}


def _outcome(outcome: dict[str, list[str]]) -> str:
    said = [f"{key}: {', '.join(ids)}" for key, ids in outcome.items() if ids]
    return "; ".join(said) or "nothing"
