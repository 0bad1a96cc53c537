"""The benchmark of fleets: what it compares, with an emulator and measurements of our own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from components.contract.eks.config import EksConfig
from emulators.aws.server import ACCOUNT
from tools.benchmarks import fleet, report
from tools.benchmarks.arena import Arena
from tools.benchmarks.measure import Command, Measurement
from workbench import stacks
from workbench.fleet import file
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain


def test_the_fleet_is_compared_with_the_same_updates_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = list[Command]()
    emulators = list[MagicMock]()

    @contextmanager
    def running() -> Iterator[MagicMock]:
        emulators.append(MagicMock(environment={"AWS_ENDPOINT_URL": f"http://127.0.0.1:{len(emulators)}"}))
        yield emulators[-1]

    def measured(command: Command, _timeout: float = 0) -> Measurement:
        ran.append(command)
        return Measurement(wall=5.0 if "fleet" in command.arguments else 10.0, cpu=8.0, memory=2e9)

    monkeypatch.setenv("AWS_PROFILE", "somebody")
    monkeypatch.setattr(fleet, "running", running)
    monkeypatch.setattr(fleet, "measure", measured)
    place = Arena(Toolchain({"pulumi": Path("pulumi")}), tmp_path)
    size = fleet.Size(stacks=12, at_once=3, rounds=2)
    (found,) = fleet.findings(fleet.fleet(place, print, size), size)
    assert found.values["wall s"] == "5.00 / 10.00"

    made = [command for command in ran if "init" in command.arguments]
    updates = [command for command in ran if command not in made]
    assert len({(command.folder, command.arguments) for command in made}) == 4 * 12
    assert [command.arguments[1:3] for command in updates[::2]] == [("fleet", "up")] * 2
    assert [command.arguments[2].count(" up fleet-") for command in updates[1::2]] == [12, 12]
    folders = [Path(command.environment[stacks.FOLDER_VARIABLE]) for command in updates]
    assert len({*folders}) == len(emulators) == 4, "nothing is updated that was up before"
    assert all("AWS_PROFILE" not in command.environment for command in ran)
    assert all(each.api("iam").create_role.call_count for each in emulators)

    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(folders[0]))
    plan = file.read()
    assert [len(wave.stacks) for wave in plan.waves] == [1, 8, 3]
    clusters = [stacks.find(name).config.cluster for name in plan.stacks]
    assert [getattr(cluster, "name", "") for cluster in clusters] == [*plan.stacks]
    assert all(isinstance(cluster, EksConfig) and cluster.account_id == ACCOUNT for cluster in clusters)


def test_ways_that_are_measured_at_different_times_are_compared_once_both_are_there(tmp_path: Path) -> None:
    file, size = tmp_path / "kept.json", fleet.Size(stacks=12, at_once=3, rounds=1)
    assert fleet.kept(file, size) == {}
    together = {fleet.Way.FLEET: [Measurement(wall=5.0, cpu=8.0, memory=2e9)]}
    fleet.keep(file, size, together)
    assert fleet.findings(fleet.kept(file, size), size) == []
    alone = {fleet.Way.SINGLE: [Measurement(wall=10.0, cpu=8.0, memory=1e9)]}
    (found,) = fleet.findings(fleet.kept(file, size) | alone, size)
    assert (found.values["wall s"], found.values["MB"]) == ("5.00 / 10.00", "2000 / 1000")
    with pytest.raises(UserError, match=r"kept\.json is of .*12.*, and this run is of .*30"):
        fleet.kept(file, replace(size, stacks=30))


def test_the_page_has_a_place_for_the_table() -> None:
    page = report.PAGE.read_text()
    written = report.page(page, {"fleet": []}, {"date": "2026-01-31"}, (fleet.BEGIN, fleet.END))
    assert "date: 2026-01-31" in written
    assert written.partition(report.BEGIN)[2] == page.partition(report.BEGIN)[2], "the others' tables stay"
