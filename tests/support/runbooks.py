"""Runs the lines of a runbook as a page spells them, on a stack in the emulator of its cloud."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

import yaml

from support.aws_command import run_aws
from support.aws_emulator import Account
from support.azure_command import run_az
from support.azure_emulator import Subscription
from support.cloud_account import CloudAccount

EDIT: Final = re.compile(r"# in Pulumi\.dev\.yaml: ([\w.]+): (.+)")
NOT_RUN: Final = "# not run"
ASK: Final = frozenset({"up", "destroy", "recover"})
"""Commands that ask before they change anything."""
STATELESS: Final = (["backup", "list"],)
"""Commands that start no engine."""
PRINTED: Final = re.compile(r'eval "\$\((igz-clusters .+)\)"')
"""A line that runs what a command prints."""


def assert_shown(lines: Sequence[str], printed: str) -> None:
    """Fail unless each line of the page is part of what was printed; ``…`` stands for any text."""
    patterns = {line: re.escape(line.strip()).replace("…", ".*") for line in lines}
    assert [line for line, pattern in patterns.items() if not re.search(pattern, printed)] == [], printed[-6000:]


def named(line: str, names: Mapping[str, str]) -> str:
    """Return a line with names in the places that it spells in capitals."""
    return re.sub(r"\b[A-Z]{3,}\b", lambda word: names.get(word[0], word[0]), line)


def execute(dev: CloudAccount, line: str, files: Mapping[str, str] | None = None) -> str:
    """Run one line of a runbook as it stands there, and return what it printed.

    Parameters
    ----------
    files
        What a reader wrote into the files that kubectl applies, by name. Default: none.
    """
    if edit := EDIT.fullmatch(line):
        dev.edit("dev", **{edit[1].replace(".", "__"): yaml.safe_load(edit[2])})
        return ""
    if inner := PRINTED.fullmatch(line):
        _, *words = shlex.split(inner[1])
        return execute(dev, dev.run(*words, "--hermetic").stdout.strip())
    program, *words = shlex.split(line, comments=True)
    match program:
        case "igz-clusters":
            offline = [] if words[:2] in STATELESS else ["--hermetic"]
            run = dev.run(*words, *offline, *(["--yes"] if words[0] in ASK else []))
            return run.stdout + run.stderr
        case "pulumi":
            return dev.plain("dev", *words).stdout
        case "kubectl":
            file = next((word for word in words if word in (files or {})), None)
            return dev.kubectl(*("-" if word == file else word for word in words), stdin=(files or {}).get(file or ""))
        case "aws" | "az":
            return _in_cloud(dev, program, words)
    raise AssertionError(f"nobody knows how to run `{line}`")


def _in_cloud(dev: CloudAccount, program: str, words: Sequence[str]) -> str:
    if isinstance(dev, Account) and program == "aws":
        return run_aws(dev.aws, words)
    assert isinstance(dev, Subscription), f"{program} is not the command line of this cloud"
    return run_az(dev.azure, words)


def follow(dev: CloudAccount, commands: Sequence[str], names: Mapping[str, str]) -> str:
    """Run lines of a runbook in their order, and return what they printed."""
    return "".join(execute(dev, named(line, names)) for line in commands if NOT_RUN not in line)
