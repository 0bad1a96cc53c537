"""``python -m tools.benchmarks.fleet``: the first `up` of many stacks as a fleet, and of one after the other.

The stacks are on EKS, each set in a separate AWS emulator, and the contents of their clusters are simulated: control
planes of 30 local stacks would occupy more than two cores by themselves. Not part of ``make bench``. ``--only`` with
``--kept`` measures the two ways at different times, since each takes minutes.
"""

import json
import os
import secrets
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer
import yaml

from emulators.aws.client import PROGRAM, running
from emulators.aws.server import ACCOUNT
from infra.config import CONFIG_KEY, parse
from tools.benchmarks import report
from tools.benchmarks.arena import Arena, Project, arena
from tools.benchmarks.emulated import install_plug_in, make_owners_roles
from tools.benchmarks.entry import run
from tools.benchmarks.findings import Finding, ratios
from tools.benchmarks.measure import Command, Measurement, measure
from tools.benchmarks.pairs import Say, Series
from workbench import stacks as stack_files
from workbench.cli.console import errors, out
from workbench.engine.render import with_noop_providers
from workbench.fleet.child import GUARDED
from workbench.system.errors import UserError
from workbench.system.paths import FOLDER_VARIABLE, PROJECT_ROOT, cache_dir
from workbench.toolchain import without_logs

STACK: Final = "dev"
"""Name of the shipped stack, of which each stack has all but these pools."""
LEFT_OUT: Final = ("jupyter", "gpu", "spot")

STACKS: Final = 30
AT_ONCE: Final = 2
ROUNDS: Final = 1
TIMEOUT: Final = 7_200.0
"""Seconds for all stacks."""

BEGIN, END = "<!-- fleet: begin -->", "<!-- fleet: end -->"


class Way(StrEnum):
    """How the stacks are updated."""

    FLEET = "fleet"
    SINGLE = "single"


Took = dict[Way, list[Measurement]]
"""What each way took, a measurement a round."""


@dataclass(frozen=True)
class Size:
    """What is measured.

    Parameters
    ----------
    stacks, at_once
        Number of stacks, and how many of them the fleet works on at the same time.
    rounds
        How often each way is measured, on new stacks.
    """

    stacks: int
    at_once: int
    rounds: int


def fleet(place: Arena, say: Say, size: Size, ways: Sequence[Way] = tuple(Way)) -> Took:
    """Measure the first updates of stacks by `fleet up`, and by `up` on one after the other.

    Emulators are not counted; both commands plan before they update, with the policy packs.

    Parameters
    ----------
    place, say
        Where to work, and what receives a line about what is under way.
    size
        How much to measure.
    ways
        What to measure. Default: both.
    """
    program = str(Path(sys.executable).with_name("igz-clusters"))
    names = [f"fleet-{number:02}" for number in range(1, size.stacks + 1)]
    single = (shlex.join([program, "up", name, "--yes", GUARDED, "--hermetic"]) for name in names)
    commands = {
        Way.FLEET: (program, "fleet", "up", "--yes", "--hermetic", "--at-once", str(size.at_once)),
        Way.SINGLE: ("sh", "-c", " && ".join(single)),
    }
    took: Took = {way: [] for way in ways}
    for turn in range(1, size.rounds + 1):
        for way, measured in took.items():
            say(f"{size.stacks} stacks, {way}, round {turn} of {size.rounds}")
            with _account(place, place.folder / f"{way}-{turn}", names) as environment:
                measured.append(measure(Command(commands[way], PROJECT_ROOT, environment), TIMEOUT))
    return took


def findings(took: Took, size: Size) -> list[Finding]:
    """Return the comparison of both ways; nothing if one was not measured yet."""
    if took.keys() != set(Way):
        return []
    together, alone = (Series(tuple(took[way])) for way in (Way.FLEET, Way.SINGLE))
    return [Finding(f"{size.stacks} stacks, {size.at_once} at once / one after the other", ratios(together, alone))]


def kept(file: Path, size: Size) -> Took:
    """Return what earlier runs of a size kept in a file; nothing if there is none.

    Raises
    ------
    UserError
        They were of another size.
    """
    if not file.exists():
        return {}
    found = json.loads(file.read_text())
    if (of := Size(**found["size"])) != size:
        raise UserError(f"--kept: {file} is of {of}, and this run is of {size}.", "Name a new file.")
    return {Way(way): [Measurement(**each) for each in measured] for way, measured in found["took"].items()}


def keep(file: Path, size: Size, took: Took) -> None:
    """Write what was measured to a file, for a later run."""
    measured = {way: [asdict(each) for each in rounds] for way, rounds in took.items()}
    file.write_text(json.dumps({"size": asdict(size), "took": measured}, indent=1))


@contextmanager
def _account(place: Arena, folder: Path, names: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """Give the environment of a user whose stacks were never up, in an emulator of AWS of their own."""
    choices = _choices()
    home, state = folder / "pulumi", folder / "state"
    for each in (folder, home, state):
        each.mkdir()
    with_noop_providers({"PULUMI_HOME": str(without_logs(home))})
    install_plug_in(home)
    with running() as emulator:
        access = make_owners_roles(emulator, parse(choices).cluster).access
        assumed = emulator.api("sts").assume_role(RoleArn=access.deployer_role_arn, RoleSessionName="benchmark")
        credentials = assumed["Credentials"]
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(PROGRAM.foreign)},
            **emulator.environment,
            "AWS_ACCESS_KEY_ID": credentials["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": credentials["SecretAccessKey"],
            "AWS_SESSION_TOKEN": credentials["SessionToken"],
            "HOME": str(folder),
            # No cluster exists; this proxy stops every client but the simulated plug-in from contacting one.
            "HTTPS_PROXY": "http://127.0.0.1:1",
            FOLDER_VARIABLE: str(folder),
            "IGZ_CLUSTERS_CACHE": str(cache_dir()),
            "PULUMI_HOME": str(home),
            "PULUMI_BACKEND_URL": f"file://{state}",
            "PULUMI_CONFIG_PASSPHRASE": secrets.token_urlsafe(32),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        _write(folder, names, choices)
        project = Project(place.toolchain.pulumi, folder, environment)
        for name in names:
            measure(project.command("stack", "init", name, "--no-select"))
        yield environment


def _choices() -> dict[str, Any]:
    """Return the choices of a small stack in the emulator's account."""
    shipped = stack_files.find(STACK).document["config"][CONFIG_KEY]
    text = yaml.safe_dump(shipped).replace(shipped["cluster"]["accountId"], ACCOUNT)
    choices: dict[str, Any] = yaml.safe_load(text)
    choices["pools"] = {name: pool for name, pool in choices["pools"].items() if name not in LEFT_OUT}
    return choices


def _write(folder: Path, names: Sequence[str], choices: Mapping[str, Any]) -> None:
    """Write the stack files, the project file that the engine expects next to them, and three waves."""
    shutil.copy(PROJECT_ROOT / "Pulumi.yaml", folder)
    for name in names:
        own = {**choices, "cluster": {**choices["cluster"], "name": name}}
        (folder / f"Pulumi.{name}.yaml").write_text(yaml.safe_dump({"config": {CONFIG_KEY: own}}))
    waves = {"canary": names[0], "early": "fleet-0*", "rest": "*"}
    plan = {"waves": [{"name": name, "stacks": [pattern]} for name, pattern in waves.items()]}
    (folder / stack_files.FLEET_FILE).write_text(yaml.safe_dump(plan))


def main(  # noqa: PLR0913 one parameter for each option
    stacks: Annotated[int, typer.Option(min=12, max=99, help="Number of stacks.")] = STACKS,
    at_once: Annotated[int, typer.Option(min=1, help="Stacks that the fleet works on at the same time.")] = AT_ONCE,
    rounds: Annotated[int, typer.Option(min=1, help="How often each is measured.")] = ROUNDS,
    only: Annotated[Way | None, typer.Option(help="Measure only this way, and keep it for another run.")] = None,
    kept_in: Annotated[Path | None, typer.Option("--kept", metavar="FILE", help="Where runs keep figures.")] = None,
    *,
    write: Annotated[bool, typer.Option("--write", help="Renew the table of fleets in docs/benchmarks.md.")] = False,
) -> None:
    """Measure the first `up` of many stacks as a fleet, and of one after the other."""
    if only and not kept_in:
        raise UserError("--only needs --kept: the file in which another run finds the figures.")
    size = Size(stacks, at_once, rounds)
    before = kept(kept_in, size) if kept_in else {}
    about, began = report.machine(), time.monotonic()
    with arena() as place:
        ways = [only] if only else list(Way)
        took = before | fleet(place, lambda words: errors.print(words, highlight=False), size, ways)
    if kept_in:
        keep(kept_in, size, took)
    about |= {"rounds": str(rounds), "took": f"{(time.monotonic() - began) / 60:.0f} min"}
    results = {"fleet": findings(took, size)}
    report.show(results, out)
    if write and results["fleet"]:
        report.PAGE.write_text(report.page(report.PAGE.read_text(), results, about, (BEGIN, END)))


if __name__ == "__main__":
    run(main)
