import csv
import gzip
import io
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import botocore.session
import pytest

from components.contract.instances import FACTS, INSTANCE_TYPES, InstanceType, Provider, Variant
from tools.facts import instances as refresh
from tools.facts.machines import READ_ON, Figures, Row, SourceError, aws, azure
from workbench.system.paths import PROJECT_ROOT


def ec2(vcpus: int = 8, memory: int = 32768, **more: Any) -> dict[str, Any]:
    return {
        "VCpuInfo": {"DefaultVCpus": vcpus},
        "MemoryInfo": {"SizeInMiB": memory},
        "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]},
        "Hypervisor": "nitro",
        "SupportedUsageClasses": ["on-demand", "spot"],
        "NetworkInfo": {
            "Ipv4AddressesPerInterface": 15,
            "NetworkCards": [{"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 4}],
        },
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
        name: azure.Sku(8, 32768, (series.gpus or 1) if series.gpu_model else 0)
        for name, series in azure.SERIES.items()
    }


def everything() -> dict[str, Figures]:
    return {
        provider: Figures({}, {name: Row(name, 8, 32768, "amd64") for name in module.COMMON})
        for provider, module in refresh.PROVIDERS.items()
    }


# --- the generated facts


def test_names_are_unique_over_all_providers() -> None:
    names = [row[0] for file in FACTS.glob("*.csv") for row in rows_of(file)]
    assert len(set(names)) == len(names) == len(INSTANCE_TYPES)


def test_every_provider_has_types() -> None:
    assert {machine.provider for machine in INSTANCE_TYPES.values()} == set(Provider) - {
        Provider.OWN
    }  # no provider sells it


def test_figures_are_plausible() -> None:
    odd = [
        machine.name
        for machine in INSTANCE_TYPES.values()
        if not (
            2 <= machine.vcpus <= 1920
            and machine.memory_mib >= 2048
            and 0.25 <= machine.memory_mib / 1024 / machine.vcpus <= 64
            and machine.architecture in {"amd64", "arm64"}
            and 0 <= machine.gpus <= 16
            and machine.local_nvme_gib >= 0
            and 1 <= machine.generation <= 9
        )
    ]
    assert odd == []


def test_a_gpu_has_a_model_and_a_maker_and_nothing_else_has() -> None:
    machines = INSTANCE_TYPES.values()
    assert [each.name for each in machines if not bool(each.gpus) == bool(each.gpu_model) == bool(each.gpu_maker)] == []
    assert {each.gpu_maker for each in machines} == {"", "nvidia", "amd", "aws"}


def test_names_follow_their_providers_pattern() -> None:
    patterns = {Provider.AWS: r"[a-z]+[a-z0-9-]*\.(medium|small|\d*x?large)", Provider.AZURE: r"Standard_[A-Z]+\d+\w*"}
    machines = INSTANCE_TYPES.values()
    assert [machine.name for machine in machines if not re.fullmatch(patterns[machine.provider], machine.name)] == []


def test_an_azure_name_tells_its_vcpus_but_for_the_oldest() -> None:
    azure = [machine for machine in INSTANCE_TYPES.values() if machine.provider is Provider.AZURE]
    odd = [machine.name for machine in azure if not re.match(rf"Standard_[A-Z]+{machine.vcpus}[a-z]", machine.name)]
    assert [name for name in odd if not name.startswith("Standard_DS")] == []


def test_types_are_read_at_the_first_look_up_only() -> None:
    imported = (
        "from components.contract import clusters, instances; assert not instances.INSTANCE_TYPES.__dict__['_made']"
    )
    code = f"{imported}; assert '_rows' not in instances.INSTANCE_TYPES.__dict__; instances.INSTANCE_TYPES['m5.large']"
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT_ROOT, check=True)


@pytest.mark.parametrize(
    ("name", "variants"),
    [
        ("m6i.2xlarge", set()),
        ("m6id.2xlarge", {Variant.DISK}),
        ("m6idn.2xlarge", {Variant.DISK, Variant.NETWORK}),
        ("c7i-flex.2xlarge", {Variant.FLEX}),
        ("t3.large", {Variant.BURSTABLE}),
        ("t8i.medium", {Variant.BURSTABLE}),
        ("r5b.2xlarge", {Variant.STORAGE}),
        ("m5zn.2xlarge", {Variant.FREQUENCY, Variant.NETWORK}),
        ("d3.2xlarge", {Variant.HDD}),
        ("hpc7a.12xlarge", {Variant.HPC}),
        ("g6f.xlarge", {Variant.DISK, Variant.FRACTION}),
        ("u-6tb1.56xlarge", set()),
        ("Standard_D8s_v5", set()),
        ("Standard_D8ds_v5", {Variant.DISK}),
        ("Standard_E8bds_v5", {Variant.DISK, Variant.STORAGE}),
        ("Standard_B4ms", {Variant.BURSTABLE}),
        ("Standard_HB120rs_v3", {Variant.HPC}),
        ("Standard_FX4mds", {Variant.DISK, Variant.FREQUENCY}),
        ("Standard_NV6ads_A10_v5", {Variant.DISK, Variant.FRACTION}),
    ],
)
def test_a_name_tells_the_variant(name: str, variants: set[Variant]) -> None:
    assert INSTANCE_TYPES[name].variants == variants


@pytest.mark.parametrize(
    "name",
    ["m6i.metal", "mac2.metal", "t3.micro", "f2.6xlarge", "vt1.3xlarge", "trn2u.48xlarge", "p3dn.24xlarge", "m4.large"],
)
def test_what_no_node_group_takes_is_unknown(name: str) -> None:
    assert name not in INSTANCE_TYPES


def test_botocore_knows_every_type_of_aws() -> None:
    service = botocore.session.get_session().get_service_model("ec2")
    known = set(service.shape_for("InstanceType").enum)
    ours = {each.name for each in INSTANCE_TYPES.values() if each.provider is Provider.AWS}
    assert ours - known == set()


def test_accelerators_are_counted_as_kubernetes_does() -> None:
    of = INSTANCE_TYPES
    assert [(of[n].gpus, of[n].gpu_model) for n in ("trn1.32xlarge", "inf2.48xlarge", "p6-b200.48xlarge")] == [
        (16, "Trainium"),
        (12, "Inferentia2"),
        (8, "B200"),
    ]
    assert of["g6f.xlarge"].gpus == 1  # EC2 counts 0 for a part of a GPU
    assert of["Standard_ND96isr_H100_v5"].gpus == 8  # the autoscaler's list counts 12


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
    found = INSTANCE_TYPES[expected.name]
    assert (found.provider, found.shape, found.gpu_model, found.local_nvme_gib) == (
        expected.provider,
        expected.shape,
        expected.gpu_model,
        expected.local_nvme_gib,
    )


@pytest.mark.parametrize("prefix", ["i3.", "i3en.", "i4i.", "m5d.", "m6id.", "r5d.", "c5d.", "Standard_L"])
def test_types_for_data_nodes_have_nvme(prefix: str) -> None:
    machines = [machine for name, machine in INSTANCE_TYPES.items() if name.startswith(prefix)]
    assert machines
    machines = [each for each in machines if each.generation > 1]  # the first of Azure's has other disks
    assert all(machine.local_nvme_gib > 0 for machine in machines)


def test_a_shape_ignores_who_sells_the_machine_and_its_disks() -> None:
    machine = INSTANCE_TYPES["m6i.2xlarge"]
    assert machine.shape == replace(machine, name="other", local_nvme_gib=9).shape == INSTANCE_TYPES["m5.2xlarge"].shape
    assert machine.shape != INSTANCE_TYPES["m6i.xlarge"].shape
    assert machine.shape != INSTANCE_TYPES["m7g.2xlarge"].shape
    assert machine.shape != INSTANCE_TYPES["g5.2xlarge"].shape


# --- the script against the generated files


def comments(provider: str) -> list[str]:
    lines = (FACTS / f"{provider}.csv").read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("# ") for line in lines if line.startswith("#")]


def rows_of(file: Path) -> list[list[str]]:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.reader(lines))[1:]


def test_the_files_hold_every_common_type() -> None:
    assert [name for module in refresh.PROVIDERS.values() for name in module.COMMON if name not in INSTANCE_TYPES] == []


def test_the_files_tell_the_versions_of_the_scripts_pins() -> None:
    assert f"moto {aws.MOTO_VERSION}" in comments("aws")
    pins = (azure.TOOLCHAIN / "go.mod").read_text(encoding="utf-8")
    pin = next(line for line in comments("azure") if line.startswith(azure.AUTOSCALER_MODULE))
    assert pin in pins
    assert all(f"tools/facts/machines {READ_ON}" in comments(provider) for provider in refresh.PROVIDERS)


@pytest.mark.parametrize("provider", refresh.PROVIDERS)
def test_rendering_the_facts_again_gives_the_same_file(provider: str) -> None:
    file = FACTS / f"{provider}.csv"
    numbers = ("vcpus", "memory_mib")
    rows = [
        Row(**{key: int(value) if key in numbers else value for key, value in zip(Row._fields, each, strict=True)})  # type: ignore[arg-type]
        for each in rows_of(file)
    ]
    versions = dict(line.rsplit(" ", 1) for line in comments(provider)[1:])
    assert refresh.render(rows, versions) == file.read_text(encoding="utf-8")


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
        GpuInfo={"Gpus": [{"Count": 4, "Manufacturer": "NVIDIA", "Name": "A10G", "MemoryInfo": {"SizeInMiB": 22888}}]},
        InstanceStorageInfo={"TotalSizeInGB": 3800, "NvmeSupport": "required"},
    )
    row = aws.aws_row("g5.12xlarge", facts)
    assert (row.gpus, row.gpu_maker, row.gpu_model, row.gpu_memory_mib) == (4, "nvidia", "A10G", 22888)
    assert (row.local_nvme_gib, row.generation, row.pod_addresses) == (3539, 5, 58)


def test_a_type_has_as_many_adapters_as_ec2_says() -> None:
    network = ec2()["NetworkInfo"]
    assert aws.aws_row("c5.large", ec2()).fabric == 0
    assert aws.aws_row("p4d.24xlarge", ec2(NetworkInfo={**network, "EfaInfo": {"MaximumEfaInterfaces": 4}})).fabric == 4
    found = {name: INSTANCE_TYPES[name].fabric for name in ("p5.48xlarge", "m6i.2xlarge")}
    assert found == {"p5.48xlarge": 32, "m6i.2xlarge": 0}


def test_instance_storage_that_is_not_nvme_does_not_count() -> None:
    facts = ec2(InstanceStorageInfo={"TotalSizeInGB": 840, "NvmeSupport": "unsupported"})
    assert aws.aws_row("m1.xlarge", facts).local_nvme_gib == 0


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
    row = azure.azure_row("Standard_L16s_v3", azure.Sku(16, 9, 0))
    assert (row.local_nvme_gib, row.generation) == (3576, 3)


def test_a_size_name_that_does_not_follow_the_convention_is_refused() -> None:
    with pytest.raises(SourceError, match="convention"):
        azure.azure_row("Basic_A4", azure.Sku(8, 16384, 0))


@pytest.mark.parametrize(("gpus", "name"), [(1, "Standard_D8s_v5"), (0, "Standard_NC4as_T4_v3")])
def test_gpus_without_a_model_or_a_model_without_gpus_are_refused(gpus: int, name: str) -> None:
    with pytest.raises(SourceError, match=name):
        azure.azure_row(name, azure.Sku(8, 9, gpus))


@pytest.mark.parametrize(
    ("name", "is_taken"),
    [
        ("Standard_D8s_v5", True),
        ("Standard_DS2_v2", True),
        ("Standard_D8_v5", False),
        ("Standard_E8-2s_v5", False),
        ("Standard_DS2_v2_Promo", False),
        ("Standard_DC8as_v5", False),
        ("Standard_NP10s", False),
    ],
)
def test_aks_takes_sizes_with_premium_storage(name: str, is_taken: bool) -> None:
    assert azure.fits(name, azure.Sku(8, 32768, 0)) is is_taken


def test_all_missing_types_are_reported_at_once() -> None:
    found = everything()
    for provider, name in (("aws", "m6i.2xlarge"), ("aws", "p5.48xlarge"), ("azure", "Standard_D8s_v5")):
        found[provider] = Figures({}, {key: row for key, row in found[provider].rows.items() if key != name})
    with pytest.raises(SourceError, match="3 common") as error:
        refresh.require_common(found)
    assert all(name in error.value.message for name in ("m6i.2xlarge", "p5.48xlarge", "Standard_D8s_v5"))


def test_the_order_does_not_depend_on_the_sources_order() -> None:
    rows = list(everything()["aws"].rows.values())
    assert refresh.render(rows, {}) == refresh.render(reversed(rows), {})


# --- the command


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = tmp_path / azure.AUTOSCALER_FILE
    source.parent.mkdir(parents=True)
    source.write_text("".join(sku(name, *figures) for name, figures in skus().items()), encoding="utf-8")
    monkeypatch.setattr(azure, "find_autoscaler", lambda: ("v0.1.0", tmp_path))
    file = tmp_path / "moto.whl"
    file.write_bytes(wheel({name: ec2() for name in aws.COMMON}).getvalue())
    return file


def test_what_was_written_passes_the_check(sources: Path, tmp_path: Path) -> None:
    assert refresh.main(["--write", "--source", f"aws={sources}"], tmp_path) == 0
    assert refresh.main(["--check", "--source", f"aws={sources}"], tmp_path) == 0
    assert "# moto 9.8.7\n" in (tmp_path / "aws.csv").read_text(encoding="utf-8")


def test_the_check_fails_on_an_outdated_file_and_leaves_it(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refresh.main(["--write", "--source", f"aws={sources}"], tmp_path)
    (tmp_path / "azure.csv").write_text("old", encoding="utf-8")
    assert refresh.main(["--check", "--source", f"aws={sources}"], tmp_path) == 1
    assert (tmp_path / "azure.csv").read_text(encoding="utf-8") == "old"
    assert "azure.csv: differ from the sources; run with --write" in capsys.readouterr().err


def test_a_failing_source_is_told_without_a_traceback(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources.write_bytes(wheel({}).getvalue())
    assert refresh.main(["--write", "--source", f"aws={sources}"], tmp_path) == 2
    assert "aws m6i.2xlarge" in capsys.readouterr().err
    assert not (tmp_path / "aws.csv").exists()
