import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tools.facts import prices, prices_sources
from tools.facts.machines import SourceError
from tools.facts.prices import aws, azure, linux_price, main
from tools.facts.prices_sources import KARPENTER_AWS, KARPENTER_AZURE, VANTAGE, Offer, karpenter, vantage

GO = """\
// generated at {day}T03:43:41Z
var InitialOnDemandPricesAWS = map[string]map[ec2types.InstanceType]float64{{
	"us-east-1": {{
		// m6i family
		"m6i.xlarge": 0.192000, "m6i.2xlarge": 0.384000,
		"p4d.24xlarge": 21.957642,
	}},
}}
"""
AZURE_GO = """\
// generated at {day}T03:43:41Z
func init() {{
	initialOnDemandPrices["westeurope"] = map[string]float64{{
		"Standard_D8s_v5":          0.460000,
		"Standard_D16as_v5":        1.568000,
		"Standard_NC24ads_A100_v4": 4.775000,
		"Standard_E8s_v5":          9.000000,
	}}
}}
"""


def linux(on_demand: float, **more: Any) -> dict[str, Any]:
    return {"linux": {"ondemand": str(on_demand), **more}}


EC2 = [
    {
        "instance_type": "m6i.xlarge",
        "pricing": {"us-east-1": linux(0.192, pct_savings_od=55), "eu-west-1": linux(0.214, pct_savings_od=50)},
    },
    {"instance_type": "p4d.24xlarge", "pricing": {"us-east-1": linux(32.77), "eu-west-1": linux(35.4)}},
]
VMS = [
    {"instance_type": "d8sv5", "pricing": {"europe-west": linux(0.46, spot_min=0.069)}},
    {"instance_type": "d16asv5", "pricing": {"europe-west": linux(0.832, spot_min=0.832)}},
    {"instance_type": "e8sv5", "pricing": {"europe-west": linux(0.608)}},
]


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write small sources; return the options that name them."""
    monkeypatch.setattr(prices, "WANTED", {"aws": ["us-east-1", "eu-west-1"], "azure": {"westeurope": "europe-west"}})
    (tmp_path / "data").mkdir()
    (tmp_path / "pkg" / "providers" / "pricing").mkdir(parents=True)
    (tmp_path / "data" / "instances.json").write_text(json.dumps(EC2))
    (tmp_path / "data" / "azure-instances.json").write_text(json.dumps(VMS))
    for source, text in ((KARPENTER_AWS, GO), (KARPENTER_AZURE, AZURE_GO)):
        (tmp_path / prices_sources._FILES[source]).write_text(text.format(day=source.date))
    names = (KARPENTER_AWS.name, KARPENTER_AZURE.name, VANTAGE.name)
    return [part for name in names for part in ("--source", f"{name}={tmp_path}")]


def test_written_files_hold_the_confirmed_prices_with_source_and_date(sources: list[str], tmp_path: Path) -> None:
    target = tmp_path / "written"
    target.mkdir()
    assert main(["--check", *sources], target) == 1
    assert main(["--write", *sources], target) == 0
    assert main(["--check", *sources], target) == 0
    found = json.loads((target / "aws.json").read_text())["providers"]["aws"]
    assert found["us-east-1"]["onDemand"] == {
        "date": "2026-07-20",
        "source": KARPENTER_AWS.text,
        "usdPerHour": {"m6i.2xlarge": 0.384, "m6i.xlarge": 0.192, "p4d.24xlarge": 21.957642},
    }
    assert found["eu-west-1"]["onDemand"]["usdPerHour"] == {"m6i.xlarge": 0.214}, "p4d changed since that list"
    assert found["eu-west-1"]["spot"] == {
        "date": "2025-05-28",
        "source": VANTAGE.text,
        "shareOfOnDemand": {"m6i.xlarge": 0.5},
    }


def test_azure_prices_are_without_the_licence_of_windows_and_contradicted_ones_are_left_out(
    sources: list[str], tmp_path: Path
) -> None:
    assert main(["--write", *sources], tmp_path) == 0
    found = json.loads((tmp_path / "azure.json").read_text())["providers"]["azure"]["westeurope"]
    assert found["onDemand"]["usdPerHour"] == {
        "Standard_D16as_v5": 0.832,
        "Standard_D8s_v5": 0.46,
        "Standard_NC24ads_A100_v4": 4.775,
    }
    assert found["spot"]["shareOfOnDemand"] == {"Standard_D8s_v5": 0.15}


@pytest.mark.parametrize(
    ("listed", "confirmed", "expected"),
    [(1.568, 0.832, 0.832), (0.832, 0.832, 0.832), (0.833, 0.832, 0.833), (0.9, 0.832, None), (0.7, 0.832, None)],
)
def test_a_price_is_taken_if_the_other_source_confirms_it(
    listed: float, confirmed: float, expected: float | None
) -> None:
    assert linux_price(listed, confirmed, vcpus=16) == expected


def test_a_type_without_a_spot_figure_has_no_share() -> None:
    older = {"m6i.xlarge": {"eu-west-1": Offer(0.214, None), "us-east-1": Offer(0.192, None)}}
    found = aws({"us-east-1": {"m6i.xlarge": 0.192}}, older)
    assert found["eu-west-1"]["onDemand"]["usdPerHour"] == {"m6i.xlarge": 0.214}
    assert found["eu-west-1"]["spot"]["shareOfOnDemand"] == {}
    newer = {region: {"Standard_D8s_v5": 0.46} for region in prices.WANTED["azure"]}
    assert azure(newer, {"d8sv5": {}})["westeurope"]["onDemand"]["usdPerHour"] == {}


def test_a_module_is_read_from_its_zip_file_too(tmp_path: Path) -> None:
    archive = tmp_path / "module.zip"
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr(f"{VANTAGE.module}@{VANTAGE.version}/data/instances.json", json.dumps(EC2))
    assert vantage(archive, "aws")["m6i.xlarge"]["eu-west-1"] == Offer(0.214, 0.5)


def test_a_source_of_another_day_or_layout_is_refused(sources: list[str], tmp_path: Path) -> None:
    assert sources
    file = tmp_path / prices_sources._FILES[KARPENTER_AWS]
    file.write_text(GO.format(day="2020-01-01"))
    with pytest.raises(SourceError, match="is of 2020-01-01, expected 2026-07-20"):
        karpenter(KARPENTER_AWS, tmp_path)
    file.write_text(f"// generated at {KARPENTER_AWS.date}T00:00:00Z\n")
    with pytest.raises(SourceError, match="another layout"):
        karpenter(KARPENTER_AWS, tmp_path)
    file.unlink()
    with pytest.raises(SourceError, match=r"has no pkg/providers/pricing/zz_generated\.pricing_aws\.go"):
        karpenter(KARPENTER_AWS, tmp_path)


def test_a_wanted_region_without_prices_is_refused(
    sources: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prices, "WANTED", {"aws": ["us-east-1", "moon-1"], "azure": {"westeurope": "europe-west"}})
    assert main(["--write", *sources], tmp_path) == 2
    assert capsys.readouterr().err.startswith("No prices in aws moon-1.\n")
    assert not (tmp_path / "aws.json").exists()
