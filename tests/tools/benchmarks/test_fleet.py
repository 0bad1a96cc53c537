"""The benchmark of fleets: what it compares, with measurements of our own."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tools.benchmarks import fleet
from tools.benchmarks.arena import Arena
from tools.benchmarks.measure import Command, Measurement
from workbench import stacks
from workbench.fleet import file
from workbench.toolchain import Toolchain


class Bare(Arena):
    environment: Mapping[str, str] = {}  # type: ignore[assignment]


def test_the_fleet_is_compared_with_the_same_commands_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, started, deleted = list[tuple[str, ...]](), list[str](), list[str]()

    def measured(command: Command, _timeout: float) -> Measurement:
        ran.append(command.arguments)
        return Measurement(wall=5.0 if "fleet" in command.arguments else 10.0, cpu=8.0, memory=2e9)

    class Control:
        def __init__(self, name: str) -> None:
            self.name = name

        def start(self, _toolchain: Toolchain) -> None:
            started.append(self.name)

        def delete(self) -> None:
            deleted.append(self.name)

    monkeypatch.setattr(fleet, "measure", measured)
    monkeypatch.setattr(fleet, "Instance", Control)
    first, previews = fleet.fleet(Bare(Toolchain({}), tmp_path), print, stacks=12, at_once=3, rounds=2)
    assert [arguments[1:3] for arguments in ran[:2]] == [("fleet", "up"), ("fleet", "preview")]
    assert ran[2][2].count("preview fleet-") == 12
    assert first.values["wall s"] == 5.0
    assert previews.values["wall s"] == "5.00 / 10.00"
    assert started == deleted
    assert len(started) == 12

    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path / "fleet"))
    assert [len(wave.stacks) for wave in file.read().waves] == [1, 8, 3]
