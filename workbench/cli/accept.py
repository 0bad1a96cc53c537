"""`igz-clusters accept`: test the whole life cycle of a stack on a copy, and record the results."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import psutil
import typer

from workbench import stacks
from workbench.acceptance import run as acceptance
from workbench.acceptance.copied_stack import SUFFIX, CopiedStack
from workbench.acceptance.estimate import announcement
from workbench.acceptance.record import Record, Verdict
from workbench.acceptance.step import Cluster, Context, StepError
from workbench.cli import drift, recover, stack
from workbench.cli.access import access, tools
from workbench.cli.cloud_run import started
from workbench.cli.console import INTERRUPTED, PLAIN, agree, errors, out
from workbench.cli.engine_run import last_run
from workbench.cli.options import AsJson, Hermetic, Yes
from workbench.engine.backend import CorruptStateError, StateFiles
from workbench.engine.cloud import bare_session
from workbench.engine.kubectl import Api, kubectl
from workbench.local import Instance, instances
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.report import events
from workbench.report.events import Stream
from workbench.report.model import StackReport
from workbench.system import locks
from workbench.system.errors import UserError
from workbench.system.paths import FOLDER_VARIABLE, PRIVATE

CLEAN_UP: Final = "--clean-up"
_CHANGES: Final = ("create", "update", "delete", "create-replacement", "delete-replaced")
_LOOKS_EVERY: Final = 0.01


def accept(  # noqa: PLR0913 - its options
    name: Annotated[str, typer.Argument(help="Name of the stack; it is not changed.", metavar="STACK")] = "local",
    *,
    copy: Annotated[
        str, typer.Option("--name", help=f"Name of the copy and its cluster. Default: STACK{SUFFIX}.", metavar="NAME")
    ] = "",
    clean: Annotated[
        bool, typer.Option(CLEAN_UP, help="Delete what an interrupted or failed run left, then exit.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
    hermetic: Hermetic = False,
) -> None:
    """Test the whole life cycle of a stack on a copy, and record the results.

    For example: igz-clusters accept dev

    Creates the copy, updates it, checks its nodes, admission, pods, volumes and drift, replaces a pool, kills a run
    and recovers, destroys it, and checks that nothing is left. First shows what it will create, how long that takes
    and what it costs, and asks. The same command continues after an interruption. The record lists each step, and the
    assumed facts about the cloud that it confirmed or refuted: docs/acceptance.md. Exit code 1: a step failed.
    """
    copied = CopiedStack(copy or f"{name}{SUFFIX}", name)
    source = None if clean else stacks.find(name)
    with _alone(copied), _only_results_on_stdout() as show:
        record = acceptance.begun(copied, source) if source else Record.load(copied.folder)
        if not record or (clean and not record.is_open):
            raise UserError(f"There is no copy '{copied.name}' to clean up.")
        os.environ[FOLDER_VARIABLE] = str(copied.folder)
        context = Context(copied, Commands(copied, hermetic), record, partial(errors.print, **PLAIN))
        _agree(context, clean=clean, yes=yes)
        with _offering_to_clean_up(context):
            try:
                (acceptance.clean_up if clean else acceptance.run)(context)
            finally:
                show(json.dumps(asdict(record)) if as_json else "\n".join(_shown(context)))


def _agree(context: Context, *, clean: bool, yes: bool) -> None:
    copied, record = context.copied, context.record
    if not clean:
        for line in (*announcement(copied, copied.original), *record.left_out):
            errors.print(line, **PLAIN)
    if yes:
        return
    try:
        agree(f"Delete '{copied.name}' and everything in it?" if clean else "Start?")
    except BaseException:
        if not (clean or acceptance.is_begun(copied)):
            copied.remove()
        raise


@contextmanager
def _offering_to_clean_up(context: Context) -> Iterator[None]:
    """Print how to continue and how to clean up after a failure or an interruption."""
    again = context.copied.command
    try:
        yield
    except BaseException:
        errors.print(f"Record: {context.copied.folder / 'record.md'}", **PLAIN)
        errors.print(f"'{context.copied.name}' may still exist; in a cloud it costs money.", style="bold", **PLAIN)
        errors.print(f"  continue   {again}\n  clean up   {again} {CLEAN_UP}", **PLAIN)
        raise


@contextmanager
def _alone(copied: CopiedStack) -> Iterator[None]:
    """Hold the copy: one run works on it at a time."""
    copied.folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
    if (lock := locks.take(copied.folder / "lock")) is None:
        raise UserError(f"Another run of `accept` is working on '{copied.name}'.", "Wait for it, or interrupt it.")
    try:
        yield
    finally:
        os.close(lock)


@contextmanager
def _only_results_on_stdout() -> Iterator[Callable[[str], None]]:
    """Redirect commands and engine to standard error; yield a function that prints a result."""
    sys.stdout.flush()
    results = os.dup(1)
    os.dup2(2, 1)
    kept: list[str] = []
    try:
        yield kept.append
    finally:
        sys.stdout.flush()
        os.dup2(results, 1)
        os.close(results)
        for text in kept:
            out.print(text, **PLAIN)


def _shown(context: Context) -> Iterator[str]:
    record = context.record
    for step in record.steps:
        yield f"{step.result:<9} {step.name}: {step.detail}"
    counted = Counter(each.verdict.value for each in record.assumptions)
    facts = ", ".join(f"{counted[verdict.value]} {verdict}" for verdict in Verdict)
    yield f"{record.stack}: {record.state}; assumed facts: {facts}"
    yield f"Record: {context.copied.folder / 'record.md'}, record.json"


@dataclass(frozen=True)
class Commands:
    """The commands on the copy, as the command line runs them."""

    copied: CopiedStack
    hermetic: bool

    def exists(self) -> bool:
        """See ``Product``."""
        found = self.copied.stack
        if found.is_local:
            return found.name in instances() or _is_recorded(found.name)
        session = bare_session(found, tools(hermetic=self.hermetic))
        return found.name in {row["name"].rpartition("/")[2] for row in session.query("stack", "ls", "--json")}

    def create(self) -> None:
        """See ``Product``."""
        found = self.copied.stack
        if found.is_local or self.exists():
            return
        session = bare_session(found, tools(hermetic=self.hermetic))
        provider = found.document.get("secretsprovider")
        options = ["--secrets-provider", provider] if provider else []
        session.output("stack", "init", self.copied.name, "--no-select", *options, folder=self.copied.folder)

    def up(self) -> Stream:
        """See ``Product``."""
        with _as_failure("up"):
            stack.up(self.copied.name, hermetic=self.hermetic, yes=True, events=self._events())
        return events.read(last_run(self.copied.events.read_bytes()))

    def killed_up(self) -> bool:
        """See ``Product``."""
        file = self._events()
        program = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv[1:])]
        options = ["--yes", "--events", str(file), *(["--hermetic"] if self.hermetic else [])]
        log = self.copied.killed_log
        with log.open("wb") as written:
            process = psutil.Popen(
                [*program, "up", self.copied.name, *options],
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                process_group=0,
            )
            try:
                while process.poll() is None:
                    if _changes(file):
                        return _killed(process)
                    time.sleep(_LOOKS_EVERY)
            finally:
                _killed(process)
        if process.returncode:
            raise StepError(f"`up` failed before it was killed:\n{log.read_text(errors='replace')[-2000:]}")
        return False

    def recover(self) -> None:
        """See ``Product``."""
        with _as_failure("recover"):
            recover.recover(self.copied.name, yes=True, hermetic=self.hermetic)

    def drift(self) -> StackReport:
        """See ``Product``."""
        with _as_failure("drift"):
            return drift.report_on(self.copied.name, hermetic=self.hermetic)

    def destroy(self) -> None:
        """See ``Product``."""
        with _as_failure("destroy"):
            stack.destroy(
                self.copied.name, hermetic=self.hermetic, yes=True, delete_claims=not self.copied.stack.is_local
            )

    def cluster(self) -> Cluster:
        """See ``Product``."""
        found = self.copied.stack
        entered = access(found, hermetic=self.hermetic)
        api = entered.api
        if found.is_local and not api and found.name in instances() and Instance(found.name).status().running:
            api = Api(kubectl(), Instance(found.name).kubeconfig, os.environ)  # destroyed, but still running
        return Cluster(entered.deployment, api)

    def left(self) -> Sequence[str]:
        """See ``Product``."""
        return [each.removal for each in self._tagged() if not each.kept]

    def kept(self) -> Sequence[str]:
        """See ``Product``."""
        return [each.removal for each in self._tagged() if each.kept]

    def _tagged(self) -> Sequence[CloudResource]:
        found = self.copied.stack
        return [] if found.is_local else started(found, hermetic=self.hermetic, events=None).left()

    def forget(self) -> None:
        """See ``Product``."""
        found = self.copied.stack
        if found.is_local:
            Instance(found.name).delete()
        else:
            bare_session(found, tools(hermetic=self.hermetic)).output(
                "stack", "rm", found.name, "--yes", "--preserve-config"
            )

    def _events(self) -> Path:
        self.copied.events.unlink(missing_ok=True)
        return self.copied.events


def _is_recorded(stack: str) -> bool:
    """Return whether the state of a local stack records anything, or cannot be read."""
    try:
        return bool(StateFiles(stack).deployment().get("resources"))
    except CorruptStateError:
        return True


@contextmanager
def _as_failure(command: str) -> Iterator[None]:
    """Raise ``StepError`` if the command in this context exits with a code other than 0."""
    try:
        yield
    except typer.Exit as end:
        if end.exit_code == INTERRUPTED:
            raise KeyboardInterrupt from None
        if end.exit_code:
            raise StepError(f"`igz-clusters {command}` failed; its messages are above.") from None


def _changes(file: Path) -> bool:
    """Return whether the run that writes this stream has begun to change something."""
    with suppress(OSError, ValueError):
        for line in file.read_bytes().splitlines():
            if b'"resourcePreEvent"' in line:
                event: dict[str, Any] = json.loads(line)["resourcePreEvent"]
                metadata = event["metadata"]
                if metadata["op"] in _CHANGES and not event.get("planning") and metadata.get("provider"):
                    return True
    return False


def _killed(process: psutil.Popen) -> bool:
    """Kill a run and all processes that it started, and return True."""
    with suppress(psutil.NoSuchProcess):
        running = [process, *process.children(recursive=True)]
        for each in running:
            with suppress(psutil.NoSuchProcess):
                each.kill()
    process.wait()
    return True
