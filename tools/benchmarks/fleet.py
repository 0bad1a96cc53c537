"""``python -m tools.benchmarks.fleet``: many local stacks as a fleet, beside the same commands one after the other.

Not part of ``make bench``: 30 stacks have 30 control planes.
"""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from tools.benchmarks import report
from tools.benchmarks.arena import Arena, arena
from tools.benchmarks.findings import Finding, ratios
from tools.benchmarks.measure import Command, Measurement, measure
from tools.benchmarks.pairs import Say, Series
from workbench.cli.console import errors, out
from workbench.local import Instance
from workbench.system.paths import FOLDER_VARIABLE, PROJECT_ROOT

STACKS: Final = 30
AT_ONCE: Final = 2
TIMEOUT: Final = 7_200.0
"""Seconds for one command on all stacks."""


def fleet(place: Arena, say: Say, *, stacks: int = STACKS, at_once: int = AT_ONCE, rounds: int = 1) -> list[Finding]:
    """Measure first updates of all stacks, and previews of all when nothing has changed.

    Previews are compared with the single command on one stack after the other; first updates happen once, so they have
    no floor. The control planes are started before and not counted.

    Parameters
    ----------
    place, say
        Where to work, and whom to tell what is under way.
    stacks, at_once
        Number of stacks, and how many of them the fleet works on at the same time.
    rounds
        How often the previews are measured.
    """
    program = str(Path(sys.executable).with_name("igz-clusters"))
    names = _stack_files(place.folder / "fleet", stacks)
    environment = {**place.environment, FOLDER_VARIABLE: str(place.folder / "fleet")}

    def command(*arguments: str) -> Command:
        return Command(arguments, PROJECT_ROOT, environment)

    options = ("--hermetic", "--at-once", str(at_once))
    singly = " && ".join(shlex.join([program, "preview", name, "--hermetic"]) for name in names)
    together, alone = list[Measurement](), list[Measurement]()
    try:
        for name in names:
            say(f"starting the control plane of {name}")
            Instance(name).start(place.toolchain)
        say(f"first update of {stacks} stacks")
        first = measure(command(program, "fleet", "up", "--yes", *options), TIMEOUT)
        for turn in range(rounds):
            say(f"previews, round {turn + 1} of {rounds}")
            together.append(measure(command(program, "fleet", "preview", *options), TIMEOUT))
            alone.append(measure(command("sh", "-c", singly), TIMEOUT))
    finally:
        for name in names:
            Instance(name).delete()
    of = f"of {stacks} stacks, {at_once} at once"
    return [
        Finding(f"fleet up {of}", {"wall s": first.wall, "CPU s": first.cpu, "MB": f"{first.memory / 1e6:.0f}"}),
        Finding(f"fleet preview {of} / one after the other", ratios(Series(tuple(together)), Series(tuple(alone)))),
    ]


def _stack_files(folder: Path, stacks: int) -> list[str]:
    """Write the shipped local stack under so many names, in three waves; return the names."""
    folder.mkdir()
    names = [f"fleet-{number:02}" for number in range(1, stacks + 1)]
    for name in names:
        (folder / f"Pulumi.{name}.yaml").write_text((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    waves = (("canary", names[0]), ("early", "fleet-0*"), ("rest", "*"))
    lines = [f"  - {{name: {name}, stacks: ['{pattern}']}}\n" for name, pattern in waves]
    (folder / "fleet.yaml").write_text("waves:\n" + "".join(lines))
    return names


def main(
    stacks: Annotated[int, typer.Option(min=12, max=99, help="Number of local stacks.")] = STACKS,
    at_once: Annotated[int, typer.Option(min=1, help="Stacks that the fleet works on at the same time.")] = AT_ONCE,
    rounds: Annotated[int, typer.Option(min=1, help="How often the previews are measured.")] = 1,
) -> None:
    """Measure commands on many local stacks as a fleet, and one after the other."""
    with arena() as place:
        found = fleet(place, errors.print, stacks=stacks, at_once=at_once, rounds=rounds)
    report.show({"fleet": found}, out)


if __name__ == "__main__":
    typer.run(main)
