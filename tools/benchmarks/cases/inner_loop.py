"""What a person waits for between two edits: the list of commands, a check, an `up` that changes nothing."""

import sys
from pathlib import Path
from typing import Final

from tools.benchmarks.arena import OWN_PACKS, Arena
from tools.benchmarks.findings import Aim, Finding, ratios
from tools.benchmarks.measure import Command, measure
from tools.benchmarks.pairs import Say, interleave
from workbench.system.paths import PROJECT_ROOT

ROUNDS: Final = 5
STACK: Final = "local"
CLOUD_STACK: Final = "dev"

SECONDS: Final = "own CPU s"
AIMS: Final = {
    "--help": Aim(SECONDS, 0.25, "CPU seconds of --help"),
    "check": Aim(SECONDS, 2.0, "CPU seconds of a check of dev"),
    "up": Aim(SECONDS, 6.0, "CPU seconds of an up that changes nothing"),
}
"""Wall time on an idle machine is at most the CPU time of the two that are one process, and near it for `up`."""


def inner_loop(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure each relative to what it saves: an empty Python, a render, the engine's own `up` with our packs."""
    program = str(Path(sys.executable).with_name("igz-clusters"))

    def command(*arguments: str) -> Command:
        return Command(arguments, PROJECT_ROOT, arena.environment)

    with arena.running(STACK) as project:
        packs = [option for pack in OWN_PACKS for option in ("--policy-pack", str(pack))]
        up = command(program, "up", STACK, "--hermetic")
        measure(up)  # notes the program and the choices that are up
        pairs = {
            "--help": ("igz-clusters --help", command(program, "--help")),
            "python": ("python -c pass", command(sys.executable, "-c", "pass")),
            "check": ("igz-clusters check dev", command(program, "check", CLOUD_STACK)),
            "render": ("preview dev --render", command(program, "preview", CLOUD_STACK, "--render", "--hermetic")),
            "up": ("igz-clusters up", up),
            "engine": ("pulumi up", project.command("up", "--yes", "--refresh", "--suppress-outputs", *packs)),
        }
        series = dict(zip(pairs, interleave(dict(pairs.values()), rounds or ROUNDS, say).values(), strict=True))
    floors = {"--help": "python", "check": "render", "up": "engine"}
    return [
        Finding(
            f"{pairs[name][0]} / {pairs[floor][0]}",
            {SECONDS: series[name].median("cpu"), **ratios(series[name], series[floor])},
            AIMS[name],
        )
        for name, floor in floors.items()
    ]
