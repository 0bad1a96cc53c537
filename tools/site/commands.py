"""The page of all commands, from the help texts of the command line."""

import re
from collections.abc import Iterator
from typing import Any, Final

from typer._click import Context
from typer.main import get_command

from workbench.cli.app import app

_INTRODUCTION: Final = """\
# Commands

What `igz-clusters COMMAND --help` prints. `-C DIR` before a command names the folder of the stack files; by default it
is the current one if it holds any, else the checkout. [Exit codes](exit-codes.md) say how each ends."""
_OUTSIDE_CODE: Final = re.compile(r"`[^`]*`|[*_<|]")


def page() -> str:
    """Return the page as Markdown of the folder ``docs``."""
    return "\n\n".join([_INTRODUCTION, *_sections(get_command(app), "igz-clusters")]) + "\n"


def _sections(command: Any, path: str) -> Iterator[str]:
    for name, each in command.commands.items():
        below = f"{path} {name}"
        if hasattr(each, "commands"):
            yield from _sections(each, below)
        else:
            yield f"## {below.removeprefix('igz-clusters ')}"
            yield from _section(each, below)


def _section(command: Any, path: str) -> Iterator[str]:
    context = Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```"
    yield from (_escaped(" ".join(each.split())) for each in (command.help or "").split("\n\n"))
    records = [record for each in command.params if (record := each.get_help_record(context))]
    if records:
        rows = [f"| `{names}` | {_escaped(' '.join(text.split()))} |" for names, text in records]
        yield "\n".join(["| argument or option | meaning |", "|---|---|", *rows])


def _escaped(text: str) -> str:
    """Return a help text that Markdown shows as it is; its code stays code."""
    return _OUTSIDE_CODE.sub(lambda found: found.group() if found.group()[0] == "`" else f"\\{found.group()}", text)
