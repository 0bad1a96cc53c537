"""Pictures of reports as pages, for the documentation: of real runs of the engine, with simulated clouds.

``python -m support.pictures --write``, with ``tests`` on the path and a ``chromium`` on PATH, renews ``docs/pictures``.
"""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from infra.config import parse
from support.edits import Changes
from support.eks import document
from support.streams import NAME, SMALL, Recorder
from workbench.engine.render import TOOLS, rendering
from workbench.engine.session import policy_packs
from workbench.report import html, record
from workbench.report.model import Report, Source
from workbench.stacks import CONFIG_KEY, Stack
from workbench.stacks.policy_overrides import attaching, pack_configuration
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import ensure

FOLDER: Final = PROJECT_ROOT / "docs" / "pictures"
BYTES_MAX: Final = 150_000
WIDTH: Final = 1_000
SCALE: Final = 0.75

TEAMS: Final = ("vision", "speech", "ranking", "fraud", "forecast", "search", "pricing")
ESTATE: Final[Changes] = {
    "cluster.zones": ["a", "b", "c"],
    **{
        f"pools.{team}": {"role": "workload", "size": {"min": 0, "max": 12}, "instanceTypes": ["m6i.4xlarge"]}
        for team in TEAMS
    },
    **{
        f"pools.{team}gpu": {"role": "gpu", "size": {"min": 0, "max": 4}, "instanceTypes": ["g5.4xlarge"]}
        for team in TEAMS
    },
    "namespaces": {team: {} for team in TEAMS},
}
"""A pool of machines and one of GPUs for each of seven teams: some 300 resources."""

THREE: Final[Changes] = {
    "pools.workload.size.max": 12,
    "pools.spot.size.max": 30,
    "pools.initial.instanceTypes": ["m6i.2xlarge"],
}
"""Two larger pools, and other machines below the core services, which the cloud re-creates."""

HEIGHTS: Final = {"first-creation": 1_460, "small-change": 950}
"""How much of a page is seen, in pixels, by the picture's name."""


def reports() -> Mapping[str, Report]:
    """Return a report of the first creation of an estate, and one of a change that concerns little."""
    choices = document(SMALL)
    stack = Stack(NAME, PROJECT_ROOT / "Pulumi.prod.yaml", {"config": {CONFIG_KEY: choices}}, parse(choices))
    with rendering(stack, ensure(TOOLS, hermetic=True)) as session:
        file = Path(session.environment["HOME"], "packs.json")
        runs = Recorder(session, attaching(policy_packs(), pack_configuration(NAME), file))
        first = _planned(runs, "preview", ESTATE)
        runs = replace(runs, session=session.with_noop_providers())
        _planned(runs, "up --yes --skip-preview", {})
        return {"first-creation": first, "small-change": _planned(runs, "preview", THREE)}


def _planned(runs: Recorder, command: str, changes: Changes) -> Report:
    with runs._started(command, runs.packs, changes) as (process, log):
        process.wait(timeout=600)
        report = record.read(log)
    return replace(report, stacks=tuple(replace(stack, source=Source.RENDERED) for stack in report.stacks))


def draw(page: str, picture: Path, height: int) -> None:
    """Write a picture of the top of a page; the browser reads nothing but the page."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(page, encoding="utf-8")
        subprocess.run(
            [
                *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                f"--force-device-scale-factor={SCALE}",
                *(f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{height}"),
                *(f"--screenshot={picture}", file.as_uri()),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
    if picture.stat().st_size > BYTES_MAX:
        sys.exit(f"{picture.name} has more than {BYTES_MAX:,} bytes: make its page shorter")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, report in reports().items():
        draw(html.render(report), FOLDER / f"{name}.png", HEIGHTS[name])


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m support.pictures --write")
    main()
