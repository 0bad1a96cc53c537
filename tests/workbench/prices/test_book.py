import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from components.contract.environments import Provider
from components.contract.instances import INSTANCE_TYPES
from components.contract.lifecycle import Lifecycle
from support import aks, eks, existing
from tools.facts.machines import aws as aws_machines
from workbench import stacks
from workbench.prices import price_file
from workbench.prices.book import ASSUMED_SPOT_SHARES, STAND_INS, Price, PriceBook, region_of
from workbench.prices.price_file import OWN_FILE, PriceFile, RegionPrices, Table
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

AWS, AZURE = Provider.AWS, Provider.AZURE
ON_DEMAND, SPOT = Lifecycle.ON_DEMAND, Lifecycle.SPOT


def table(day: str, /, **prices: float) -> Table:
    return Table(date=date.fromisoformat(day), source=f"list of {day}", usd_per_hour=prices)


def shares(day: str, /, **found: float) -> Table:
    return Table(date=date.fromisoformat(day), source=f"list of {day}", share_of_on_demand=found)


def file(on_demand: Table, spot: Table | None = None, region: str = "eu-west-1") -> PriceFile:
    return PriceFile(providers={AWS: {region: RegionPrices(on_demand=on_demand, spot=spot)}})


def test_the_shipped_files_are_valid_and_price_known_types_only() -> None:
    for each in price_file.shipped():
        for provider, regions in each.providers.items():
            for region in regions.values():
                for part in (region.on_demand, region.spot):
                    assert part
                    names = {*part.usd_per_hour, *part.share_of_on_demand}
                    assert names
                    assert {INSTANCE_TYPES[name].provider for name in names} == {provider}


def test_every_common_type_of_aws_has_a_price_in_the_region_that_stands_in() -> None:
    book = PriceBook.load()
    assert [name for name in aws_machines.COMMON if not book.of(AWS, STAND_INS[AWS], name, ON_DEMAND)] == []


def test_reserved_machines_have_no_price_of_their_own() -> None:
    assert PriceBook.load().of(AWS, STAND_INS[AWS], "m6i.2xlarge", Lifecycle.RESERVED) is None


def test_every_machine_type_of_the_shipped_stacks_has_a_price_in_the_region_that_stands_in() -> None:
    book = PriceBook.load()
    files = [*PROJECT_ROOT.glob("Pulumi.*.yaml"), *PROJECT_ROOT.glob("examples/*/Pulumi.*.yaml")]
    pools = [pool for file in files for pool in stacks.read(file).config.pools.values()]
    machines = {machine for pool in pools for machine in pool.instances if machine.provider in STAND_INS}
    assert len(machines) > 5
    assert [
        each.name for each in machines if not book.of(each.provider, STAND_INS[each.provider], each.name, SPOT)
    ] == []


def test_spot_is_cheaper_than_on_demand_for_every_shipped_type_of_the_regions_that_stand_in() -> None:
    book = PriceBook.load()
    for name, machine in INSTANCE_TYPES.items():
        region = STAND_INS[machine.provider]
        spot, kept = (book.of(machine.provider, region, name, each) for each in (SPOT, ON_DEMAND))
        if kept:
            assert spot
            assert spot.usd_per_hour < kept.usd_per_hour


@pytest.mark.parametrize(
    ("provider", "region", "machine", "usd"),
    [
        (AWS, "us-east-1", "m6i.xlarge", 0.192),
        (AWS, "eu-west-1", "m6i.xlarge", 0.214),
        (AWS, "us-east-1", "p5.48xlarge", 55.04),
        (AZURE, "westeurope", "Standard_D8s_v5", 0.46),
        (AZURE, "eastus", "Standard_D64as_v5", 2.752),
    ],
)
def test_a_shipped_price_is_the_clouds_list_price(provider: Provider, region: str, machine: str, usd: float) -> None:
    found = PriceBook.load().of(provider, region, machine, ON_DEMAND)
    assert found
    assert (found.usd_per_hour, found.region, found.is_assumed) == (usd, region, False)


def test_a_type_whose_price_changed_since_a_list_was_read_has_no_price_in_it() -> None:
    assert PriceBook.load().of(AWS, "eu-central-1", "p4d.24xlarge", ON_DEMAND) is None


def test_clusters_without_a_region_are_priced_in_the_one_that_stands_in_and_it_is_assumed() -> None:
    book = PriceBook.load()
    found = book.of(AWS, None, "m6i.xlarge", ON_DEMAND)
    assert found
    assert (found.region, found.is_assumed) == ("us-east-1", True)


def test_unknown_regions_and_types_and_own_machines_have_no_price() -> None:
    book = PriceBook.load()
    assert book.of(AWS, "moon-1", "m6i.xlarge", ON_DEMAND) is None
    assert book.of(AWS, "eu-west-1", "m99.xlarge", SPOT) is None
    assert book.of(Provider.OWN, None, "16cpu-64gib", ON_DEMAND) is None


def test_the_newest_list_with_a_type_wins_and_the_later_file_of_equally_new_ones() -> None:
    old, new, same = (
        file(table("2025-01-01", a=1, b=1)),
        file(table("2026-01-01", a=2)),
        file(table("2026-01-01", a=3)),
    )
    for files in ([old, new], [new, old]):
        book = PriceBook(files)
        assert book.of(AWS, "eu-west-1", "a", ON_DEMAND) == Price(
            2, date(2026, 1, 1), "list of 2026-01-01", "eu-west-1"
        )
        assert book.of(AWS, "eu-west-1", "b", ON_DEMAND) == Price(
            1, date(2025, 1, 1), "list of 2025-01-01", "eu-west-1"
        )
    found = PriceBook([new, same]).of(AWS, "eu-west-1", "a", ON_DEMAND)
    assert found
    assert found.usd_per_hour == 3


def test_a_share_of_spot_applies_to_the_newest_price_on_demand_and_is_as_old_as_the_older_of_both() -> None:
    shipped = file(table("2025-01-01", a=1), shares("2025-02-01", a=0.3))
    own = file(table("2026-01-01", a=2))
    found = PriceBook([shipped, own]).of(AWS, "eu-west-1", "a", SPOT)
    assert found
    assert (found.usd_per_hour, found.date, found.is_assumed) == (0.6, date(2025, 2, 1), False)
    assert found.source == "typical share of on-demand: list of 2025-02-01"


def test_a_read_spot_price_wins_over_an_older_share() -> None:
    shipped = file(table("2025-01-01", a=1), shares("2025-02-01", a=0.3))
    own = file(table("2026-01-01", a=2), table("2026-01-01", a=0.7))
    found = PriceBook([shipped, own]).of(AWS, "eu-west-1", "a", SPOT)
    assert found
    assert (found.usd_per_hour, found.source) == (0.7, "list of 2026-01-01")


def test_a_type_without_a_share_has_the_general_one_and_it_is_assumed() -> None:
    found = PriceBook([file(table("2026-01-01", a=2))]).of(AWS, "eu-west-1", "a", SPOT)
    assert found
    assert found.usd_per_hour == 2 * ASSUMED_SPOT_SHARES[AWS]
    assert found.is_assumed
    assert found.source == "40% of on-demand, assumed"


def test_a_newer_file_beside_the_stack_files_wins(tmp_path: Path) -> None:
    price_file.write(tmp_path / OWN_FILE, file(table("2030-01-01", **{"m6i.xlarge": 0.1})))
    found = PriceBook.load(tmp_path).of(AWS, "eu-west-1", "m6i.xlarge", ON_DEMAND)
    assert found
    assert found.usd_per_hour == 0.1
    price_file.write(tmp_path / OWN_FILE, file(table("2020-01-01", **{"m6i.xlarge": 0.1})))
    older = PriceBook.load(tmp_path).of(AWS, "eu-west-1", "m6i.xlarge", ON_DEMAND)
    assert older == PriceBook.load().of(AWS, "eu-west-1", "m6i.xlarge", ON_DEMAND)


def test_a_written_file_reads_back_and_the_same_content_leaves_it_alone(tmp_path: Path) -> None:
    target, content = tmp_path / OWN_FILE, file(table("2026-01-01", b=1, a=2), table("2026-01-01", a=1))
    assert price_file.write(target, content)
    before = target.stat()
    assert not price_file.write(target, content)
    assert target.stat().st_mtime_ns == before.st_mtime_ns
    assert target.stat().st_mode & 0o777 == 0o644
    assert price_file.read(target) == content
    assert [each.name for each in tmp_path.iterdir()] == [OWN_FILE]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[", "file: Invalid JSON"),
        ('{"format": 2, "providers": {}}', "format: Input should be 1"),
        ('{"format": 1, "providers": {"gcp": {}}}', "providers.gcp.[key]: "),
        (
            json.dumps(
                {
                    "format": 1,
                    "providers": {
                        "aws": {"x": {"onDemand": {"date": "2026-01-01", "source": "s", "usdPerHour": {"a": -1}}}}
                    },
                }
            ),
            "providers.aws.x.onDemand.usdPerHour.a: Input should be greater than 0",
        ),
    ],
)
def test_an_invalid_file_is_refused_with_the_place_of_the_problem(tmp_path: Path, content: str, problem: str) -> None:
    target = tmp_path / OWN_FILE
    target.write_text(content)
    with pytest.raises(UserError) as refused:
        PriceBook.load(tmp_path)
    assert refused.value.message.startswith(f"{target} is invalid:\n{problem}")
    assert "igz-clusters prices refresh STACK" in refused.value.hint


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda file: file.symlink_to("missing")])
def test_what_is_no_file_is_refused_and_not_passed_over(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(target := tmp_path / OWN_FILE)
    with pytest.raises(UserError, match="cannot be read") as refused:
        PriceBook.load(tmp_path)
    assert str(target) in refused.value.message


def test_the_region_of_a_stack_is_its_clouds() -> None:
    assert region_of(eks.config()) == "eu-west-1"
    assert region_of(aks.config()) == "westeurope"
    assert region_of(existing.config()) is None
