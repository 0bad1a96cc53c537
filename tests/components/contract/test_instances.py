import gzip
import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.contract import instance_facts as generated
from components.contract.instances import INSTANCE_TYPES, InstanceType, Provider
from tools.facts import instances as refresh
from tools.facts.machines import GB, READ_ON, Row, SourceError, aws, azure


def ec2(vcpus: int = 8, memory: int = 32768, **more: Any) -> dict[str, Any]:
    return {
        "VCpuInfo": {"DefaultVCpus": vcpus},
        "MemoryInfo": {"SizeInMiB": memory},
        "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]},
        **more,
    }


def wheel(types: dict[str, Any], version: str = "9.8.7", member: str = aws.MOTO_MEMBER) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(member, gzip.compress(json.dumps(types).encode()))
        archive.writestr(
            f"moto-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: moto\nVersion: {version}\n"
        )
    file.seek(0)
    return file


def sku(name: str, vcpus: int, memory: int, gpus: int) -> str:
    return f"""\t"{name}": {{
\t\tInstanceType: "{name}",
\t\tSkuFamily:    "standard some Family",
\t\tVCPU:         {vcpus},
\t\tMemoryMb:     {memory},
\t\tGPU:          {gpus},
\t}},
"""


def skus() -> dict[str, azure.Sku]:
    return {
        series.pattern.format(vcpus): azure.Sku(vcpus, vcpus * 4096, 1 if series.gpu_model else 0)
        for series in azure.WANTED
        for vcpus in series.vcpus
    }


def everything() -> dict[str, dict[str, Row]]:
    return {
        provider: {name: Row(name, 8, 32768, "amd64", 0, "", 0) for name in module.wanted()}
        for provider, module in refresh.PROVIDERS.items()
    }


# --- the generated facts


def test_names_are_unique_over_all_providers() -> None:
    names = [row[0] for rows in generated.FACTS.values() for row in rows]
    assert len(set(names)) == len(names) == len(INSTANCE_TYPES)


def test_every_provider_has_types() -> None:
    assert {machine.provider for machine in INSTANCE_TYPES.values()} == set(Provider) - {
        Provider.OWN
    }  # nobody sells it


def test_figures_are_plausible() -> None:
    odd = [
        machine.name
        for machine in INSTANCE_TYPES.values()
        if not (
            4 <= machine.vcpus <= 192
            and 1 <= machine.memory_mib / 1024 / machine.vcpus <= 32
            and machine.architecture in {"amd64", "arm64"}
            and 0 <= machine.gpus <= 8
            and machine.local_nvme_gib >= 0
        )
    ]
    assert odd == []


def test_a_gpu_model_is_named_exactly_with_gpus() -> None:
    assert [machine.name for machine in INSTANCE_TYPES.values() if bool(machine.gpu_model) != bool(machine.gpus)] == []


def test_names_follow_their_providers_pattern() -> None:
    patterns = {Provider.AWS: r"[a-z]\d[a-z]*\.\d*xlarge", Provider.AZURE: r"Standard_[A-Z]+\d+[a-z]+(_[A-Z0-9]+)?_v\d"}
    machines = INSTANCE_TYPES.values()
    assert [machine.name for machine in machines if not re.fullmatch(patterns[machine.provider], machine.name)] == []


def test_an_azure_name_tells_its_vcpus() -> None:
    azure = [machine for machine in INSTANCE_TYPES.values() if machine.provider is Provider.AZURE]
    odd = [machine.name for machine in azure if not re.match(rf"Standard_[A-Z]+{machine.vcpus}[a-z]", machine.name)]
    assert odd == []


@pytest.mark.parametrize(
    "expected",
    [
        InstanceType("m6i.2xlarge", Provider.AWS, 8, 32768, "amd64"),
        InstanceType("m5.xlarge", Provider.AWS, 4, 16384, "amd64"),
        InstanceType("m7g.2xlarge", Provider.AWS, 8, 32768, "arm64"),
        InstanceType("g5.2xlarge", Provider.AWS, 8, 32768, "amd64", 1, "A10G", 419),
        InstanceType("p4d.24xlarge", Provider.AWS, 96, 1152 * 1024, "amd64", 8, "A100", 7450),
        InstanceType("i4i.2xlarge", Provider.AWS, 8, 65536, "amd64", 0, "", 1746),
        InstanceType("Standard_D8s_v5", Provider.AZURE, 8, 32768, "amd64"),
        InstanceType("Standard_L8s_v3", Provider.AZURE, 8, 65536, "amd64", 0, "", 1788),
        InstanceType("Standard_NC24ads_A100_v4", Provider.AZURE, 24, 220 * 1024, "amd64", 1, "A100", 894),
        InstanceType("Standard_NC64as_T4_v3", Provider.AZURE, 64, 440 * 1024, "amd64", 4, "T4"),
    ],
    ids=lambda machine: machine.name,
)
def test_known_types_have_their_known_figures(expected: InstanceType) -> None:
    assert INSTANCE_TYPES[expected.name] == expected


@pytest.mark.parametrize("prefix", ["i3.", "i3en.", "i4i.", "m5d.", "m6id.", "r5d.", "c5d.", "Standard_L"])
def test_types_for_data_nodes_have_nvme(prefix: str) -> None:
    machines = [machine for name, machine in INSTANCE_TYPES.items() if name.startswith(prefix)]
    assert machines
    assert all(machine.local_nvme_gib > 0 for machine in machines)


def test_a_shape_ignores_who_sells_the_machine_and_its_disks() -> None:
    machine = INSTANCE_TYPES["m6i.2xlarge"]
    assert machine.shape == replace(machine, name="other", local_nvme_gib=9).shape == INSTANCE_TYPES["m5.2xlarge"].shape
    assert machine.shape != INSTANCE_TYPES["m6i.xlarge"].shape
    assert machine.shape != INSTANCE_TYPES["m7g.2xlarge"].shape
    assert machine.shape != INSTANCE_TYPES["g5.2xlarge"].shape


# --- the script's choice against the generated file


def test_the_file_holds_exactly_the_wanted_types() -> None:
    listed = {provider: {row[0] for row in rows} for provider, rows in generated.FACTS.items()}
    assert listed == {provider: set(module.wanted()) for provider, module in refresh.PROVIDERS.items()}


def test_the_file_tells_the_versions_of_the_scripts_pins() -> None:
    assert generated.FACTS_DATE == READ_ON
    assert generated.SOURCES["moto"] == aws.MOTO_VERSION
    pins = (azure.TOOLCHAIN / "go.mod").read_text(encoding="utf-8")
    assert f"{azure.AUTOSCALER_MODULE} {generated.SOURCES[azure.AUTOSCALER_MODULE]}" in pins


def test_rendering_the_facts_again_gives_the_same_file() -> None:
    rows = {provider: [Row(*row) for row in rows] for provider, rows in generated.FACTS.items()}
    assert refresh.render(rows, generated.SOURCES) == refresh.TARGET.read_text(encoding="utf-8")


# --- reading the sources


def test_a_wheel_gives_its_version_and_types() -> None:
    types = {"m6i.2xlarge": ec2()}
    assert aws.read_moto(wheel(types, "1.2.3")) == ("1.2.3", types)


def test_a_wheel_with_another_layout_is_refused() -> None:
    with pytest.raises(SourceError, match=re.escape(aws.MOTO_MEMBER)):
        aws.read_moto(wheel({}, member="moto/elsewhere.json"))


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_a_file_that_is_no_wheel_is_refused(content: bytes) -> None:
    with pytest.raises(SourceError, match="Not a wheel of moto"):
        aws.read_moto(io.BytesIO(content))


def test_a_missing_wheel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"gone\.whl"):
        aws.read_moto(tmp_path / "gone.whl")


def test_ec2_figures_become_a_row() -> None:
    facts = ec2(
        GpuInfo={"Gpus": [{"Count": 4, "Name": "A10G"}]},
        InstanceStorageInfo={"TotalSizeInGB": 3800, "NvmeSupport": "required"},
    )
    assert aws.aws_row("g5.12xlarge", facts) == ("g5.12xlarge", 8, 32768, "amd64", 4, "A10G", 3539)


def test_instance_storage_that_is_not_nvme_does_not_count() -> None:
    facts = ec2(InstanceStorageInfo={"TotalSizeInGB": 840, "NvmeSupport": "unsupported"})
    assert aws.aws_row("old.xlarge", facts).local_nvme_gib == 0


def test_arm_is_called_as_in_the_kubernetes_label() -> None:
    facts = ec2(ProcessorInfo={"SupportedArchitectures": ["arm64"]})
    assert aws.aws_row("m7g.2xlarge", facts).architecture == "arm64"


def test_the_go_file_gives_every_sku() -> None:
    text = (
        "var InstanceTypes = map[string]*InstanceType{\n"
        + sku("Standard_A-1_v2", 1, 2048, 0)
        + sku("B", 24, 9, 1)
        + "}"
    )
    assert azure.read_autoscaler(text) == {"Standard_A-1_v2": (1, 2048, 0), "B": (24, 9, 1)}


def test_local_nvme_grows_with_the_vcpus() -> None:
    series = azure.AzureSeries("L{}", (16,), disk_bytes=1920 * GB, vcpus_per_disk=8)
    assert azure.azure_row(series, "L16", azure.Sku(16, 9, 0)).local_nvme_gib == 3576


@pytest.mark.parametrize(("gpus", "model"), [(1, ""), (0, "T4")])
def test_gpus_without_a_model_or_a_model_without_gpus_are_refused(gpus: int, model: str) -> None:
    with pytest.raises(SourceError, match="N8"):
        azure.azure_row(azure.AzureSeries("N{}", (8,), model), "N8", azure.Sku(8, 9, gpus))


def test_all_missing_types_are_reported_at_once() -> None:
    found = everything()
    del found["aws"]["m6i.2xlarge"], found["aws"]["p5.48xlarge"], found["azure"]["Standard_D8s_v5"]
    with pytest.raises(SourceError, match="3 wanted") as error:
        refresh.collect(found)
    assert all(name in error.value.message for name in ("m6i.2xlarge", "p5.48xlarge", "Standard_D8s_v5"))


def test_the_order_does_not_depend_on_the_sources_order() -> None:
    found = everything()
    turned = {provider: dict(reversed(rows.items())) for provider, rows in found.items()}
    assert refresh.collect(found) == refresh.collect(turned)


# --- the command


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = tmp_path / azure.AUTOSCALER_FILE
    source.parent.mkdir(parents=True)
    source.write_text("".join(sku(name, *figures) for name, figures in skus().items()), encoding="utf-8")
    monkeypatch.setattr(azure, "find_autoscaler", lambda: ("v0.1.0", tmp_path))
    file = tmp_path / "moto.whl"
    file.write_bytes(wheel({name: ec2() for name in aws.wanted()}).getvalue())
    return file


def test_what_was_written_passes_the_check(sources: Path, tmp_path: Path) -> None:
    target = tmp_path / "facts.py"
    assert refresh.main(["--write", "--source", f"aws={sources}"], target) == 0
    assert refresh.main(["--check", "--source", f"aws={sources}"], target) == 0
    assert '"moto": "9.8.7"' in target.read_text(encoding="utf-8")


def test_the_check_fails_on_an_outdated_file_and_leaves_it(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "facts.py"
    target.write_text("old", encoding="utf-8")
    assert refresh.main(["--check", "--source", f"aws={sources}"], target) == 1
    assert target.read_text(encoding="utf-8") == "old"
    assert "--write" in capsys.readouterr().err


def test_a_failing_source_is_told_without_a_traceback(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources.write_bytes(wheel({}).getvalue())
    assert refresh.main(["--write", "--source", f"aws={sources}"], tmp_path / "facts.py") == 2
    assert "aws m6i.2xlarge" in capsys.readouterr().err
    assert not (tmp_path / "facts.py").exists()
