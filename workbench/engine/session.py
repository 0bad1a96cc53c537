"""Sessions: one stack prepared for runs of the engine."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Final

import yaml

from components.stack_files import yaml_source
from policies.rule import Pack
from workbench.engine import backend, hangs, variables
from workbench.engine.inputs import CONFIG_FILE, SECRETS_AS_IN_THE_STATE, Inputs
from workbench.engine.lock import opening
from workbench.engine.running import Running, wait_for
from workbench.engine.secrets import passphrase_file
from workbench.stacks import Stack, policy_overrides
from workbench.system import temporary
from workbench.system.copying import Copies, is_terminal
from workbench.system.errors import UserError
from workbench.system.files import write_private
from workbench.system.paths import PRIVATE, PROJECT_ROOT, data_dir, key_of
from workbench.system.processes import asked_to_end_with_this, mark
from workbench.toolchain import Toolchain, environment

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C stopped, as in shells."""

_CANCELLED: Final = 8
"""Exit code of the engine after Ctrl-C at its own prompt:
https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/cmd/pulumi/cmd/exit_codes.go.
"""

_LAST_EVENT: Final = 200
"""Bytes at the end of an event stream that contain its last event: `cancelEvent` after a plan and after a run."""

_INTERPRETER: Final = Path(__file__).parent / "interpreter"

_DEBUGGING: Final = {"PULUMI_DEBUG_COMMANDS": "true"}

POLICY_PACKS: Final = Path("policies") / "packs"
ALL_FOLDER: Final = "all"
"""Folder of the pack that serves the rules of all packs."""


@dataclass(frozen=True)
class Session:
    """Everything needed to run the engine on one stack."""

    stack: Stack
    pulumi: Path
    environment: dict[str, str]
    """Variables added to the caller's."""
    lock: int | None = None
    """The stack's lock, inherited by all of the engine's processes; None for a session that changes nothing."""
    inputs: Inputs = field(default_factory=Inputs)
    """What its runs read, written for each anew."""

    def run(self, *arguments: str, events: Path | None = None, display: IO[bytes] | None = None) -> int:
        """Run the engine in the foreground and return its exit code, ``INTERRUPTED`` if Ctrl-C stopped it.

        After Ctrl-C, a signal, or when the output or the terminal is closed, the engine finishes its current step,
        saves the state and ends; this method waits for it. A second Ctrl-C or signal makes the engine abort its step;
        what still runs 10 s later is killed. If this process is killed, the kernel signals the engine to finish.

        Parameters
        ----------
        arguments
            The engine's command.
        events
            File for the engine's event stream. Default: none.
        display
            File for its console output. Default: standard output.

        Raises
        ------
        UserError
            The engine ended, but its output could not be written.
        """
        # The engine offers this option only with its debug commands enabled.
        recorded, extra = (["--event-log", str(events.absolute())], _DEBUGGING) if events else ([], {})
        command: list[str | Path] = [self.pulumi, *arguments, *recorded]
        environment = _quiet({**self.whole_environment(), **extra, **mark(self.stack.name, self.stack.file)})
        asks = not display and sys.stdin.isatty() and "--yes" not in arguments
        with temporary.folder("run") as (place, held), hangs.watching(lambda: _news(events, asks=asks)):
            # Plug-ins leave files with credentials in their temporary folder.
            of_the_run = {**self.inputs.written(self.stack.name, place), "TMPDIR": str(place)}
            return self._shown(command, {**environment, **of_the_run}, display, held)

    def _shown(
        self, command: Sequence[str | Path], variables: Mapping[str, str], display: IO[bytes] | None, held: int
    ) -> int:
        """Run the engine with its output in ``display`` or on this process's own; see ``run``."""
        if display:
            return self._run(command, variables, held, (display, subprocess.STDOUT))
        # The engine may have printed before its process is known here.
        running = SimpleQueue[Running]()
        streams = {"stdout": sys.stdout, "stderr": sys.stderr}
        copied = {name: stream for name, stream in streams.items() if not is_terminal(stream)}
        with Copies(copied, lambda: running.get().lose_reader()) as copies:
            outputs = copies.files.get("stdout"), copies.files.get("stderr")
            code = self._run(command, variables, held, outputs, running)
        if copies.failures:
            failed = " and ".join(f"{name}: {error.strerror}" for name, error in copies.failures.items())
            raise UserError(
                f"The engine ended with exit code {code}, but its output could not be written to {failed}.",
                f"Free the disk or write elsewhere; `igz-clusters preview {self.stack.name}` shows what is left to do.",
            )
        return INTERRUPTED if copies.is_closed and code else code

    def _run(
        self,
        command: Sequence[str | Path],
        variables: Mapping[str, str],
        held: int,
        outputs: tuple[IO[bytes] | None, IO[bytes] | int | None],
        started: SimpleQueue["Running"] | None = None,
    ) -> int:
        """Run the engine to its end and return its exit code.

        Its processes inherit ``held``; ``outputs`` are its standard output and error output, by default those of this
        process; ``started`` receives it once it runs.
        """
        has_terminal = sys.stdin.isatty()
        with asked_to_end_with_this() as tie:

            def begin() -> None:
                # The end of a terminal reaches its whole foreground group, and ends the engine in mid-step. Go ignores
                # what it ignored from the start, and plug-ins inherit that:
                # https://pkg.go.dev/os/signal#hdr-Default_behavior_of_signals_in_Go_programs
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                tie()

            process = subprocess.Popen(
                command,
                cwd=PROJECT_ROOT,
                env=variables,
                stdout=outputs[0],
                stderr=outputs[1],
                pass_fds=(*self._inherited, held),
                # A second signal makes the engine abort its step. A signal to our process group would be the first,
                # ours the second; so without a terminal it gets its own group and receives signals only from us.
                process_group=None if has_terminal else 0,
                preexec_fn=begin,  # noqa: PLW1509 - it makes two system calls
            )
            running = Running(process)
            if started is not None:
                started.put(running)
            interrupts = wait_for(running, is_in_our_group=has_terminal)
        interrupted = interrupts or process.returncode == _CANCELLED
        if process.returncode < 0 and not interrupted:
            hangs.say(
                f"The engine was ended by {signal.Signals(-process.returncode).name} from outside: by the kernel if "
                "memory ran out, or by another process. "
                f"`igz-clusters recover {self.stack.name}` repairs what it left; then run this command again."
            )
        is_stopped = running.is_hung_up or (interrupted and process.returncode)
        return INTERRUPTED if is_stopped else process.returncode

    def query(self, *arguments: str, folder: Path = PROJECT_ROOT, stdin: str | None = None) -> Any:
        """Run the engine as ``output`` does and return the JSON that it prints; None if it prints nothing."""
        return json.loads(self.output(*arguments, folder=folder, stdin=stdin) or "null")

    def output(self, *arguments: str, folder: Path = PROJECT_ROOT, stdin: str | None = None) -> str:
        """Run the engine quietly in ``folder`` and return its standard output.

        Parameters
        ----------
        arguments
            The engine's command.
        folder
            Working directory.
        stdin
            Standard input. Default: none.

        Raises
        ------
        UserError
            The engine fails; shows its error output.
        """
        result = subprocess.run(
            [self.pulumi, *arguments, "--non-interactive"],
            cwd=folder,
            env=self.whole_environment(),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            pass_fds=self._inherited,
        )
        if result.returncode:
            raise UserError(f"`pulumi {' '.join(arguments)}` failed:\n{result.stderr.strip()}")
        return result.stdout

    def whole_environment(self) -> dict[str, str]:
        """Return the environment of a run: the caller's variables (see ``variables.callers``) and the session's."""
        own = variables.callers()
        if "PULUMI_CONFIG_PASSPHRASE_FILE" in self.environment:
            own.pop("PULUMI_CONFIG_PASSPHRASE", None)  # it would take precedence over our file
        return {**own, **self.environment}

    def exported(self) -> dict[str, str]:
        """Return the session's variables for plain ``pulumi``, which then behaves the same; their files stay."""
        folder = data_dir() / "env" / f"{self.stack.name}-{key_of(self.stack.file)}"
        folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        # The engine writes its settings into the stack file, so plain `pulumi` needs the one that is kept.
        files = replace(self.inputs, document=None).written(self.stack.name, folder)
        return {**self.environment, **files, **SECRETS_AS_IN_THE_STATE}

    @property
    def _inherited(self) -> tuple[int, ...]:
        return () if self.lock is None else (self.lock,)


def _news(events: Path | None, *, asks: bool) -> object:
    """Return a value that differs after each event of the engine, and at every call while it may wait for an answer.

    Parameters
    ----------
    events
        The event stream. Default: None, for a run without one.
    asks
        Whether the engine prompts the user, which it does after its plan.
    """
    try:
        content = events.read_bytes() if events else b""
    except FileNotFoundError:
        content = b""
    return object() if asks and b'"cancelEvent"' in content[-_LAST_EVENT:] else len(content)


def _quiet(variables: dict[str, str]) -> dict[str, str]:
    """Return the variables with which Python programs of the engine end without a traceback on Ctrl-C."""
    path = [str(_INTERPRETER), *filter(None, [variables.get("PYTHONPATH")])]
    return {**variables, "PYTHONPATH": os.pathsep.join(path)}


def open_session(stack: Stack, toolchain: Toolchain, kubeconfig: Path, lock: int | None = None) -> Session:
    """Return a session after preparing home, backend, passphrase and stack file, and the stack if it is new.

    Parameters
    ----------
    stack, toolchain, kubeconfig
        The stack, the programs, and the local cluster's kubeconfig.
    lock
        Descriptor of the stack's lock. Default: None, for a session that changes nothing.
    """
    with opening(stack.name):
        return _open(stack, toolchain, kubeconfig, lock)


def policy_packs(package: Path = PROJECT_ROOT) -> list[Path]:
    """Return the folders of the packs with all rules of a checkout of this package; default: this one.

    One process serves all of them; releases before 0.3 have a process for each pack.
    """
    place = package / POLICY_PACKS
    found = {file.parent.name: file.parent for file in sorted(place.glob("*/PulumiPolicy.yaml"))}
    if ALL_FOLDER in found:
        return [found[ALL_FOLDER]]
    if found.keys() != set(Pack):
        raise UserError(
            f"{place} must hold the pack {ALL_FOLDER}, or {' and '.join(Pack)}.",
            "The checkout is damaged: clone it again.",
        )
    return list(found.values())


def _open(stack: Stack, toolchain: Toolchain, kubeconfig: Path, lock: int | None) -> Session:
    config_file = data_dir() / "stacks" / f"Pulumi.{stack.name}.yaml"
    session = Session(
        stack,
        toolchain.pulumi,
        {
            **environment(toolchain),
            "PULUMI_BACKEND_URL": backend.address(),
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(passphrase_file()),
            "PULUMI_STACK": stack.name,
            # The engine writes the passphrase's salt into the stack file. The salt belongs to this user and not to
            # the repository, so `stack init` and plain `pulumi` work on a copy.
            CONFIG_FILE: str(config_file),
            "IGZ_CLUSTERS_LOCAL_KUBECONFIG": str(kubeconfig),
        },
        lock,
        Inputs(packs=policy_packs(), overrides=policy_overrides.read()),
    )
    _write_config(config_file, stack)
    if not _is_known(session):
        # `stack init` ignores the option and writes next to the project file of its folder.
        write_private(config_file.parent / "Pulumi.yaml", (PROJECT_ROOT / "Pulumi.yaml").read_text())
        session.query("stack", "init", stack.name, "--no-select", folder=config_file.parent)
    return replace(session, inputs=replace(session.inputs, document={**stack.document, **_salt(config_file)}))


def _is_known(session: Session) -> bool:
    name = session.stack.name
    if backend.StateFiles(name).current.exists():  # the engine would take a third of a second to say so
        return True
    return name in {row["name"].rpartition("/")[2] for row in session.query("stack", "ls", "--json")}


def _write_config(file: Path, stack: Stack) -> None:
    file.parent.mkdir(exist_ok=True, mode=PRIVATE)
    header = f"# Generated from {stack.file.name}: edit that file; every command rewrites this copy.\n"
    write_private(file, header + yaml_source.written({**stack.document, **_salt(file)}))


def _salt(file: Path) -> dict[str, Any]:
    """Return the passphrase's salt in the copy of a stack file; nothing if there is none, or the copy is damaged."""
    with suppress(FileNotFoundError, yaml.YAMLError, UnicodeDecodeError):
        kept = yaml.safe_load(file.read_text())
        return {key: kept[key] for key in ("encryptionsalt",) if isinstance(kept, dict) and key in kept}
    return {}
