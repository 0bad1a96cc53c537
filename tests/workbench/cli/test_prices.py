import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from components.contract.environments import Provider
from infra.config import CONFIG_KEY
from support import aks, eks, existing
from support.stack_files import VALID
from workbench import stacks
from workbench.cli import prices
from workbench.cli.app import app
from workbench.prices.price_file import OWN_FILE, RegionPrices, Table
from workbench.prices.refresh import azure, run
from workbench.system.errors import UserError

DAY = date(2026, 11, 23)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stack of each kind into a folder, and make it a day in November 2026."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(prices, "_today", lambda: DAY)
    documents = {"eks": eks.document(), "aks": aks.document(), "own": existing.document()}
    (tmp_path / "Pulumi.here.yaml").write_text(VALID)
    for name, document in documents.items():
        (tmp_path / f"Pulumi.{name}.yaml").write_text(yaml.safe_dump({"config": {CONFIG_KEY: document}}))
    return tmp_path


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["prices", *arguments])


def row(text: str, name: str) -> list[str]:
    return next(line for line in text.splitlines() if line.startswith(name)).split()


def test_show_prints_a_line_for_each_group_the_control_plane_and_the_total() -> None:
    result = command("show", "eks")
    assert result.exit_code == 0
    assert row(result.stdout, "initial") == ["initial", "m6i.xlarge", "on-demand", "3", "0.2140", "469", "469", "1"]
    assert row(result.stdout, "workload")[3:] == ["1", "to", "10", "0.4280", "312", "3,124", "1"]
    assert row(result.stdout, "(control")[2:] == ["1", "0.1000", "73", "73", "3"]
    assert row(result.stdout, "total")[1] == "3.44"
    assert "\n1  2025-05-28, eu-west-1: ec2instances.info" in result.stdout
    assert "before discounts; without disks" in result.stderr


def test_old_prices_are_named_with_the_command_that_reads_current_ones() -> None:
    result = command("show", "eks")
    assert "prices are older than 180 days, since 2025-05-28." in result.stderr
    assert "`igz-clusters prices refresh eks` reads current prices into prices.json." in result.stderr
    assert "older than" not in command("show", "eks", "--max-age", "2000").stderr


def test_own_machines_are_named_as_left_out_of_the_totals() -> None:
    result = command("show", "own")
    assert row(result.stdout, "initial")[-3:] == ["unknown"] * 3
    assert "warning: no price is known for gpu, initial, workload; the totals leave them out." in result.stderr
    assert "prices refresh" not in result.stderr


def test_a_cluster_without_a_region_says_whose_prices_are_assumed() -> None:
    result = command("show", "here")
    assert row(result.stdout, "initial") == ["initial", "m6i.2xlarge", "on-demand", "2", "0.3840", "561", "561", "1"]
    assert "\n1  2026-07-20, us-east-1, assumed for this cluster: AWS Price List API" in result.stdout
    assert "note: the cluster has no region; assumed: the prices of us-east-1." in result.stderr


def test_json_has_the_same_figures_and_nothing_else_on_standard_output() -> None:
    shape = json.loads(command("show", "eks", "--json").stdout)
    assert (shape["stack"], shape["currency"], shape["region"], shape["unpriced"]) == ("eks", "USD", "eu-west-1", [])
    first = next(each for each in shape["groups"] if each["name"] == "initial")
    assert first["price"]["usdPerHour"] == 0.214
    assert first["price"]["isOld"] is True
    assert first["monthly"] == {"smallest": 468.66, "largest": 468.66}
    assert shape["controlPlane"]["usdPerHour"] == 0.1
    summed = sum(each["hourly"]["smallest"] for each in shape["groups"]) + 0.1
    assert shape["hourly"]["smallest"] == pytest.approx(summed)


def test_an_unknown_stack_and_an_invalid_file_are_refused(folder: Path) -> None:
    assert isinstance(command("show", "none").exception, UserError)
    (folder / OWN_FILE).write_text("{}")
    refused = command("show", "eks").exception
    assert isinstance(refused, UserError)
    assert "providers: Field required" in refused.message


def answering(usd: float) -> Callable[..., RegionPrices]:
    def read(region: str, _types: Any, today: date, tell: Callable[[str], None]) -> RegionPrices:
        tell(f"{region}: page 1")
        listed = Table(date=today, source="Azure Retail Prices API", usd_per_hour={"Standard_D8s_v5": usd})
        return RegionPrices(on_demand=listed)

    return read


def test_refresh_writes_a_file_that_show_prefers_and_a_second_run_leaves_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(azure, "read", answering(7))
    done = command("refresh", "aks")
    assert done.exit_code == 0
    assert done.stdout == "prices.json: written; 1 on-demand and 0 spot prices of westeurope\n"
    assert done.stderr == "westeurope: page 1\n"
    groups = json.loads(command("show", "aks", "--json").stdout)["groups"]
    assert {each["price"]["usdPerHour"] for each in groups if each["machineTypes"][0] == "Standard_D8s_v5"} >= {7}
    before = (folder / OWN_FILE).read_text()
    assert command("refresh", "aks").stdout.startswith("prices.json: unchanged; ")
    assert (folder / OWN_FILE).read_text() == before


def test_refresh_keeps_other_regions_and_providers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"onDemand": {"date": "2026-01-01", "source": "s", "usdPerHour": {"a": 1}}}
    kept = {"format": 1, "providers": {"aws": {"x": listed}, "azure": {"y": listed, "westeurope": listed}}}
    (folder / OWN_FILE).write_text(json.dumps(kept))
    monkeypatch.setattr(azure, "read", answering(7))
    assert command("refresh", "aks").exit_code == 0
    shape = json.loads((folder / OWN_FILE).read_text())["providers"]
    assert shape["aws"] == {"x": listed}
    assert shape["azure"]["y"] == listed
    assert shape["azure"]["westeurope"]["onDemand"]["usdPerHour"] == {"Standard_D8s_v5": 7}


def test_a_failed_refresh_leaves_the_file_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> RegionPrices:
        raise UserError("The Azure Retail Prices API did not answer.")

    monkeypatch.setattr(azure, "read", fail)
    assert isinstance(command("refresh", "aks").exception, UserError)
    assert not (folder / OWN_FILE).exists()


def test_a_cluster_without_a_region_has_nothing_to_refresh() -> None:
    refused = command("refresh", "own").exception
    assert isinstance(refused, UserError)
    assert refused.message == "'own' is a stack on existing: it has no region, so it has no prices of its own."


def test_all_known_types_of_a_provider_are_asked_for() -> None:
    found = run.types_of(Provider.AZURE)
    assert "Standard_D8s_v5" in found
    assert "m6i.xlarge" not in found
