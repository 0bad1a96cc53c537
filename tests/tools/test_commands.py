"""Commands in the documents: each exists with its options; what needs more than this machine has says so."""

import re
import shlex
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import dropwhile
from typing import Final

from typer._click import ClickException, Context
from typer.main import get_command

from support.documents import Line, inline, lines
from workbench.cli.app import app
from workbench.system.paths import PROJECT_ROOT

RUN: Final = {
    "docs/backup.md": "tests/control_plane/test_backup_page.py",
    "docs/local.md": "tests/control_plane/test_quick_starts.py",
    "docs/mlrun-ce.md": "tests/control_plane/test_mlrun_ce_page.py",
    "docs/operations.md": "tests/control_plane/test_operations_page.py",
    "docs/pull-requests.md": "tests/test_pull_requests_page.py",
    "docs/rehearsal.md": "tests/control_plane/test_rehearsal_page.py",
    "docs/start/data-scientist.md": "tests/control_plane/test_quick_starts.py",
    "docs/start/platform-engineer.md": "tests/control_plane/test_quick_starts.py",
    "docs/start/security-reviewer.md": "tests/control_plane/test_quick_starts.py",
}
"""Pages whose commands a test runs as they stand there."""
CHECKED: Final = ("igz-clusters", "make", "python", "pytest", "cd", "export")
"""Programs that need no run: their arguments are checked here, or none can be wrong."""
GONE: Final = ("make rehearse",)
"""Commands of earlier releases, which the documents name as such."""
MAKEFILES: Final = ("Makefile", ".github/*.mk", "workbench/starter/files/Makefile")


@cache
def targets() -> set[str]:
    texts = [file.read_text() for pattern in MAKEFILES for file in PROJECT_ROOT.glob(pattern)]
    return {target for text in texts for target in re.findall(r"^([a-z-]+):(?!=)", text, re.MULTILINE)}


def problem(arguments: Sequence[str]) -> str | None:
    """Return what the command line would refuse of these arguments before it does anything."""
    command, path, rest = get_command(app), "igz-clusters", list(arguments)
    context = Context(command, info_name=path)
    while hasattr(command, "commands"):
        try:
            rest = command.make_parser(context).parse_args(rest)[1]
        except ClickException as error:
            return str(error)
        if not rest:
            return None
        name = rest.pop(0)
        if name not in command.commands:
            return f"{path} has no command {name}"
        command, path = command.commands[name], f"{path} {name}"
        context = Context(command, info_name=path, parent=context, **command.context_settings)
    try:
        given, _, _ = command.make_parser(context).parse_args(rest)
    except ClickException as error:
        return f"{path}: {error}"
    missing = [each.name for each in command.params if each.param_type_name == "argument" and each.required]
    return next((f"{path}: {name} is missing" for name in missing if not given.get(str(name))), None)


def arguments_of(text: str) -> list[str]:
    """Return arguments without the brackets and dots of a synopsis."""
    return [word.strip("[]").removesuffix("...") or word for word in shlex.split(text)]


def refused(line: Line) -> str | None:
    made = [target for target in re.findall(r"^make(?: -C \S+)? ([a-z-]+)", line.text) if target not in targets()]
    if made:
        return f"make has no target {made[0]}"
    return next(filter(None, map(problem, map(arguments_of, line.ours))), None)


def program(line: Line) -> str:
    """Return what a line runs, also if the shell takes its output; ``export`` if it only sets variables."""
    words = re.sub(r'^(?:eval |\w+=)?"?\$\(', "", line.text).split()
    commands = dropwhile(lambda word: re.match(r"\w+=", word), words)
    return next(commands, "export").removeprefix(".venv/bin/")


def test_every_command_in_a_block_exists_with_its_options() -> None:
    assert [(line.file, line.text, why) for line in lines() if (why := refused(line))] == []


def test_every_command_in_the_text_exists_with_its_options() -> None:
    named = [line for line in inline() if line.text not in GONE]
    found = [(line.file, line.text, why) for line in named if (why := refused(line))]
    assert [each for each in found if not each[2].endswith(" is missing")] == []  # the text may leave arguments out


def test_every_module_in_a_command_exists() -> None:
    named = {name for line in lines() for name in re.findall(r"python -m (\S+)", line.text)}
    assert {name for name in named if not find_spec(name)} == set()


def test_a_command_of_another_program_is_run_by_a_test_or_says_what_it_needs() -> None:
    others = [line for line in lines() if program(line) not in CHECKED and line.file not in RUN and not line.is_marked]
    assert [(line.file, line.text) for line in others] == []


def test_the_tests_that_run_pages_exist_and_read_them() -> None:
    assert {
        page for page, test in RUN.items() if page.partition("/")[2] not in (PROJECT_ROOT / test).read_text()
    } == set()
