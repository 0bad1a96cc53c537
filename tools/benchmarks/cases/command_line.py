"""The command line over a Python that does nothing."""

import sys
from pathlib import Path

from tools.benchmarks.arena import Arena
from tools.benchmarks.findings import Finding, ratios
from tools.benchmarks.measure import Command
from tools.benchmarks.pairs import Say, interleave
from workbench.local import Instance
from workbench.system.paths import PROJECT_ROOT

ROUNDS = 9
STACK = "local"


def command_line(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure the status of a running cluster."""
    program = str(Path(sys.executable).with_name("igz-clusters"))

    def command(*arguments: str) -> Command:
        return Command(arguments, PROJECT_ROOT, arena.environment)

    commands = {
        "python -c pass": command(sys.executable, "-c", "pass"),
        "igz-clusters status": command(program, "status", STACK),
    }
    instance = Instance(STACK)
    try:
        instance.start(arena.toolchain)
        floor, *others = interleave(commands, rounds or ROUNDS, say).items()
    finally:
        instance.delete()
    return [Finding(f"{name} / {floor[0]}", ratios(series, floor[1])) for name, series in others]
