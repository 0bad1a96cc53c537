"""Which machine types a shape selects, in which order, and that real clouds would take them."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.contract.instances import INSTANCE_TYPES, Provider, Variant
from components.contract.shapes import VARIANTS, MachineShape, obstacles, preference, select, unusual

AWS, AZURE = Provider.AWS, Provider.AZURE


def shape(**keys: Any) -> MachineShape:
    return MachineShape.model_validate(keys)


def names(provider: Provider = AWS, *, is_spot: bool = False, **keys: Any) -> list[str]:
    return [each.name for each in select(shape(**keys), provider, is_spot=is_spot)]


def test_plain_machines_come_newest_first() -> None:
    found = names(vcpus=8, memoryGib=32, generation=6)
    assert found == [f"{family}.2xlarge" for family in ("m8a", "m8i", "m7a", "m7i", "m6a", "m6i")]
    assert names(AZURE, vcpus=8, memoryGib=32, generation=5) == [
        "Standard_D8as_v6",
        "Standard_F8as_v6",
        "Standard_D8as_v5",
        "Standard_D8s_v5",
    ]


def test_a_known_price_decides_within_a_generation() -> None:
    usd = {"m6i.2xlarge": 0.2, "m6a.2xlarge": 0.3, "m7a.2xlarge": 0.1}
    found = select(shape(vcpus=8, memoryGib=32, generation=6), AWS, price=lambda each: usd.get(each.name))
    assert [each.family for each in found] == ["m8a", "m8i", "m7a", "m7i", "m6i", "m6a"]


def test_what_is_left_out_is_the_smallest_and_all_have_one_shape() -> None:
    assert names(gpu={"model": "A10G"}) == ["g5.xlarge"]
    for keys in ({"vcpus": 8}, {"memoryGib": 64}, {"gpu": {"model": "L4"}}):
        found = select(shape(**keys), AWS)
        assert found
        assert len({each.shape for each in found}) == 1


@pytest.mark.parametrize(
    ("variant", "extra"),
    [("flex", "m7i-flex.2xlarge"), ("burstable", "t3.2xlarge"), ("network", "m6in.2xlarge")],
)
def test_variants_are_selected_only_if_asked_for_and_come_last(variant: str, extra: str) -> None:
    plain = names(vcpus=8, memoryGib=32)
    assert extra not in plain
    found = names(vcpus=8, memoryGib=32, variants=[variant])
    assert found[: len(plain)] == plain
    assert extra in found[len(plain) :]


def test_local_disks_are_all_or_none() -> None:
    with_disks = select(shape(vcpus=8, memoryGib=64, localNvme=True), AWS)
    assert "i4i.2xlarge" in [each.name for each in with_disks]
    assert all(each.local_nvme_gib for each in with_disks)
    assert not any(each.local_nvme_gib for each in select(shape(vcpus=8, memoryGib=64), AWS))


def test_spot_pools_get_no_type_without_spot_capacity() -> None:
    keys: dict[str, Any] = {"vcpus": 24, "memoryGib": 768, "variants": ["hpc"]}
    assert "hpc7a.12xlarge" in names(**keys)
    assert "hpc7a.12xlarge" not in names(**keys, is_spot=True)


def test_a_machine_with_gpus_may_have_what_such_machines_have_anyway() -> None:
    assert not unusual(INSTANCE_TYPES["p5en.48xlarge"])
    assert unusual(INSTANCE_TYPES["m6idn.2xlarge"]) == {Variant.DISK, Variant.NETWORK}
    assert names(gpu={"model": "H200", "count": 8}) == ["p5e.48xlarge", "p5en.48xlarge"]


def test_parts_of_gpus_and_other_accelerators_are_not_mixed_in() -> None:
    assert all("g6f" not in name for name in names(gpu={"model": "L4"}, memoryGib=16))
    assert names(gpu={"model": "Trainium", "count": 16}) == ["trn1.32xlarge", "trn1n.32xlarge"]


@pytest.mark.parametrize(
    ("keys", "provider", "which"),
    [
        ({"vcpus": 7}, AWS, ["vcpus"]),
        ({"vcpus": 8, "memoryGib": 33}, AWS, ["memoryGib"]),
        ({"vcpus": 8, "memoryGib": 32, "generation": 90}, AWS, ["generation"]),
        ({"gpu": {"model": "A10G"}}, AZURE, ["gpu"]),
        ({"vcpus": 7, "memoryGib": 33}, AWS, []),
    ],
)
def test_keys_that_alone_exclude_every_type_are_named(keys: Any, provider: Provider, which: list[str]) -> None:
    assert select(shape(**keys), provider) == []
    assert obstacles(shape(**keys), provider) == which


def test_every_type_without_a_part_of_a_gpu_can_be_selected_by_its_own_figures() -> None:
    for each in INSTANCE_TYPES.values():
        if (
            Variant.FRACTION in each.variants
            or each.memory_mib % 1024
            or (each.variants & {Variant.DISK} and not (each.local_nvme_gib or each.gpus))
        ):
            continue
        gpu = {"gpu": {"model": each.gpu_model, "count": each.gpus}} if each.gpus else {}
        wanted = shape(
            vcpus=each.vcpus,
            memoryGib=each.memory_mib // 1024,
            architecture=each.architecture,
            localNvme=Variant.DISK in each.variants and not each.gpus,
            variants=sorted(unusual(each) & set(VARIANTS)),
            **gpu,
        )
        assert wanted.problem(each) is None, each.name


def test_the_order_is_total() -> None:
    orders = [preference(each) for each in INSTANCE_TYPES.values()]
    assert len(set(orders)) == len(orders)


def test_a_shape_that_says_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least one of vcpus, memoryGib and gpu"):
        shape(architecture="arm64")
