"""`igz-clusters fleet`: commands on many stacks, in waves."""

import json
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer
from rich.table import Table
from rich.text import Text

from workbench import stacks
from workbench.cli import fleet_output as output
from workbench.cli.console import INTERRUPTED, PLAIN, agree, errors, out
from workbench.cli.options import AsJson, Hermetic, Yes
from workbench.cli.verdicts import errors_are_no_verdict
from workbench.fleet import backend, file, listing, record, report, runner
from workbench.fleet.child import Files, Process, this_program
from workbench.fleet.file import Plan
from workbench.fleet.model import AT_ONCE_MAX
from workbench.fleet.record import Entry, Records, Run
from workbench.fleet.report import FleetReport
from workbench.fleet.runner import Runner
from workbench.fleet.verb import Result, Verb
from workbench.report.terminal import print_table
from workbench.report.words import count
from workbench.stacks import Stack
from workbench.system.errors import NoVerdictError
from workbench.system.paths import APP
from workbench.toolchain import Toolchain, ensure, prepare
from workbench.toolchain.console import progress

app = typer.Typer(help="Run commands on many stacks, in waves.", no_args_is_help=True)

FleetFile = Annotated[
    Path | None,
    typer.Option(
        "--fleet", metavar="FILE", help=f"File of the waves. Default: {stacks.FLEET_FILE} in the folder of the stacks."
    ),
]
Waves = Annotated[
    list[str] | None, typer.Option("--wave", metavar="NAME", help="Only this wave; repeat for more. Default: all.")
]
AtOnce = Annotated[
    int | None,
    typer.Option(
        "--at-once", min=1, max=AT_ONCE_MAX, help="Stacks at the same time. Default: `atOnce` of the file, or 2."
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", metavar="FILE", help="Also write the report to FILE.md or FILE.html.")
]

_QUESTIONS: Final[Mapping[Verb, str]] = {
    Verb.UP: "Run `up` on {}, without showing each plan first?",
    Verb.ACCEPT: "Copy {}, test each copy and delete it? In a cloud the copies cost money.",
}


@app.command("list")
def list_(
    *,
    fleet: FleetFile = None,
    ask: Annotated[
        bool, typer.Option("--backend", help="Also query the backend, and list its stacks that have no stack file.")
    ] = False,
    hermetic: Hermetic = False,
    as_json: AsJson = False,
) -> None:
    """List the stacks with their waves and last results.

    The release is the one with which the last `fleet up` on this machine updated the stack. Exit code 1: a stack file
    or the file of the waves is invalid.
    """
    plan = file.checked(fleet)
    found = file.stacks_of([*plan.stacks, *plan.left_out])
    has_backend = ask and not all(stack.is_local for stack in found.values())
    tools = _tools(backend.TOOLS, hermetic=hermetic) if has_backend else None
    known = backend.known(found.values(), tools) if ask else {}
    rows = listing.rows(plan, found, output.readable(Records.of_folder()), known if ask else None)
    if as_json:
        out.print_json(json.dumps({"release": version(APP), "stacks": rows}), ensure_ascii=True)
        return
    output.announce(plan)
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = ["stack", "wave", "kind", "environment", "version", "last", "release"]
    shown += ["updated", "resources"] if ask else []
    for heading in shown:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text("-" if row[key] is None else str(row[key])) for key in shown))
    print_table(table, out)


@app.command()
def preview(  # noqa: PLR0913 - its options
    *,
    fleet: FleetFile = None,
    wave: Waves = None,
    at_once: AtOnce = None,
    hermetic: Hermetic = False,
    as_json: AsJson = False,
    page: Output = None,
) -> None:
    """Preview all stacks; change nothing.

    Exit code 1: a plan failed, or destroys protected resources without an approval. A sleeping cluster, or a
    state that needs recovery, is mentioned only in the stack's log.
    """
    _begin(_new(Verb.PREVIEW, wave, at_once, hermetic=hermetic), fleet, _Wanted(as_json, page))


@app.command()
def up(  # noqa: PLR0913 - its options
    *,
    fleet: FleetFile = None,
    wave: Waves = None,
    at_once: AtOnce = None,
    hermetic: Hermetic = False,
    yes: Yes = False,
    as_json: AsJson = False,
    page: Output = None,
) -> None:
    """Create or update all stacks, wave by wave.

    A wave begins once the one before has ended, its failures are within its limit, and its bake time is over. A stack
    whose plan destroys protected resources without an approval is refused, whatever policyGuard says. `resume`
    continues a run that failed, was interrupted or killed. Exit code 1: a stack failed.
    """
    _begin(_new(Verb.UP, wave, at_once, hermetic=hermetic), fleet, _Wanted(as_json, page, yes=yes))


@app.command()
def drift(  # noqa: PLR0913 - its options
    *,
    fleet: FleetFile = None,
    wave: Waves = None,
    at_once: AtOnce = None,
    hermetic: Hermetic = False,
    as_json: AsJson = False,
    page: Output = None,
) -> None:
    """Report changes of all stacks made outside Pulumi.

    Exit code 1: a stack has drifted, 3: none has, but one could not be compared completely, or the run could not start.
    """
    _begin(_new(Verb.DRIFT, wave, at_once, hermetic=hermetic), fleet, _Wanted(as_json, page))


@app.command()
def verify(  # noqa: PLR0913 - its options
    *,
    fleet: FleetFile = None,
    wave: Waves = None,
    at_once: AtOnce = None,
    hermetic: Hermetic = False,
    as_json: AsJson = False,
    page: Output = None,
) -> None:
    """Compare all running clusters with what their stacks demand.

    Exit code 1: a cluster deviates, 3: none does, but one could not be read, or the run could not start.
    """
    _begin(_new(Verb.VERIFY, wave, at_once, hermetic=hermetic), fleet, _Wanted(as_json, page))


@app.command()
def accept(  # noqa: PLR0913 - its options
    *,
    fleet: FleetFile = None,
    wave: Waves = None,
    at_once: AtOnce = None,
    hermetic: Hermetic = False,
    yes: Yes = False,
    as_json: AsJson = False,
    page: Output = None,
) -> None:
    """Test the life cycle of all stacks in copies of them, wave by wave.

    Exit code 1: a step of a stack failed.
    """
    _begin(_new(Verb.ACCEPT, wave, at_once, hermetic=hermetic), fleet, _Wanted(as_json, page, yes=yes))


@app.command()
def resume(*, yes: Yes = False, as_json: AsJson = False, page: Output = None) -> None:
    """Continue the last run of `up` or `accept`.

    What has succeeded runs again only if its stack file, its base, policies/overrides.yaml or this package changed. A
    stack on which `up` was killed is repaired first, as by `recover`. Exit code: as that of the command, or 3: there is
    no run.
    """
    output.require_output(page)
    _require_folder()
    records = Records.of_folder()
    with records.alone() as lock:
        run = _newest(records, that_changes=True)
        errors.print(f"Continuing `fleet {run.verb}` of {report.moment(run.begun)}.", **PLAIN)
        plan = file.checked(Path(run.file) if run.file else None).only(run.waves, "--wave of the run that continues")
        found = file.stacks_of(plan.stacks)
        inputs = _inputs(found)
        output.announce(plan)
        run, reasons = record.continued(_as_planned(run, plan), runner.entries(runner.stages(plan, run.verb)), inputs)
        for line in reasons:
            errors.print(line, **PLAIN)
        if run.is_finished:
            errors.print("All stacks in the waves of this run have succeeded; nothing runs again.", **PLAIN)
            run.ended = max(entry.ended for entry in run.entries)
            records.save(run)
            _show(FleetReport(run, records), _Wanted(as_json, page))
        _run(_Work(run, plan, found, inputs, records, lock), _Wanted(as_json, page, yes=yes))


@app.command()
def status(*, as_json: AsJson = False, page: Output = None) -> None:
    """Show where the last run stands.

    Exit code 0: everything succeeded, 1: a stack failed, 3: there is no run, or it has not ended.
    """
    output.require_output(page)
    records = Records.of_folder()
    run = _newest(records)
    _show(FleetReport(run, records, is_running=records.is_running(run)), _Wanted(as_json, page))


@dataclass(frozen=True)
class _Wanted:
    """Options of all commands that report."""

    as_json: bool
    page: Path | None
    yes: bool = True


@dataclass(frozen=True)
class _Work:
    """A run, and what it needs."""

    run: Run
    plan: Plan
    found: Mapping[str, Stack]
    inputs: dict[str, str]
    records: Records
    lock: int


def _new(verb: Verb, waves: list[str] | None, at_once: int | None, *, hermetic: bool) -> Run:
    return record.new(verb, waves=waves or (), at_once=at_once or 0, hermetic=hermetic)


def _newest(records: Records, *, that_changes: bool = False) -> Run:
    if not (run := records.newest(that_changes=that_changes)):
        what = " of `fleet up` or `fleet accept`" if that_changes else ""
        raise NoVerdictError(
            f"There is no run{what} on the stacks of {stacks.folder()} on this machine.",
            "Start one: `igz-clusters fleet up`.",
        )
    return run


def _begin(run: Run, fleet: Path | None, wanted: _Wanted) -> None:
    """Start a new run; a comparison that cannot start ends without a verdict."""
    with errors_are_no_verdict() if run.verb.is_comparison else nullcontext():
        _start(run, fleet, wanted)


def _start(run: Run, fleet: Path | None, wanted: _Wanted) -> None:
    output.require_output(wanted.page)
    if run.verb.is_change:
        _require_folder()
    plan = file.checked(fleet).only(run.waves)
    found = file.stacks_of(plan.stacks)
    run = replace(_as_planned(run, plan), entries=runner.entries(runner.stages(plan, run.verb)))
    records = Records.of_folder()
    with records.alone() as lock:
        last = records.newest(that_changes=True) if run.verb.is_change else None
        if last and not last.is_finished:
            errors.print(
                f"note: the last `fleet {last.verb}` is not finished. This run takes its place: `igz-clusters fleet "
                "resume` will continue this one.",
                **PLAIN,
            )
        output.announce(plan)
        _run(_Work(run, plan, found, _inputs(found), records, lock), wanted)


def _require_folder() -> None:
    """Refuse to change the package's own samples, only because the current folder has no stack."""
    if stacks.is_fallback():
        raise stacks.none_found(Path.cwd())


def _run(work: _Work, wanted: _Wanted) -> NoReturn:
    """Run what has not succeeded, and report."""
    run, plan, records = work.run, work.plan, work.records
    if run.verb.is_change and not wanted.yes:
        left = {entry.stack for entry in run.entries if entry.result is not Result.OK}
        agree(_QUESTIONS[run.verb].format(count(len(left), "stack")))
    _prepare(work.found, hermetic=run.hermetic)
    records.begin(run, work.lock)
    records.drop_old()

    def start(entry: Entry) -> Process:
        return Process(entry, Files(records.folder(run), entry), this_program(), work.lock, run.hermetic)

    with output.watching(sum(entry.result is not Result.OK for entry in run.entries)) as watcher:
        is_whole = Runner(
            run=run,
            start=start,
            inputs=work.inputs,
            inputs_now=lambda name: _inputs({name: work.found[name]})[name],
            save=partial(records.save, run),
            at_once=run.at_once or plan.at_once,
            watcher=watcher,
        ).work(runner.stages(plan, run.verb))
    _show(FleetReport(run, records), wanted, interrupted=not is_whole)


def _show(found: FleetReport, wanted: _Wanted, *, interrupted: bool = False) -> NoReturn:
    code = INTERRUPTED if interrupted else found.outcome.exit_code
    output.show(found, code, as_json=wanted.as_json)
    output.write(found, wanted.page)
    raise typer.Exit(code)


def _as_planned(run: Run, plan: Plan) -> Run:
    """Return a run with the file of its waves, and the stacks that are in none."""
    return replace(run, file=str(plan.file.absolute()) if plan.file else "", left_out=plan.left_out)


def _inputs(found: Mapping[str, Stack]) -> dict[str, str]:
    package = record.revision()
    return {name: record.inputs_of(stack.file, package, stack.base) for name, stack in found.items()}


def _prepare(found: Mapping[str, Stack], *, hermetic: bool) -> None:
    """Build missing tools and install their plug-in once and visibly, before several stacks need them."""
    if any(stack.is_local for stack in found.values()):
        prepare(_tools(None, hermetic=hermetic))
    else:
        _tools(backend.TOOLS, hermetic=hermetic)


def _tools(programs: Collection[str] | None, *, hermetic: bool) -> Toolchain:
    with progress(errors) as shown:
        return ensure(programs, hermetic=hermetic, progress=shown)
