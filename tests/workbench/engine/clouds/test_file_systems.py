from typing import Any

import pytest

from components.contract.shared_storage import Storage
from workbench.engine.clouds.eks.file_systems import LUSTRE, size_blockers

URN = f"urn:pulumi:dev::igz-clusters::{LUSTRE}::dev-lustre-fast"


def deployed(**more: Any) -> dict[str, Any]:
    return {"resources": [{"urn": URN, "type": LUSTRE, "inputs": {"storageCapacity": 4800.0}, **more}]}


def wanted(**storage: int) -> dict[str, Storage]:
    lustre = {"purpose": "scratch", "type": "lustre", "zone": "a"}
    return {name: Storage.model_validate({**lustre, "sizeGib": size}) for name, size in storage.items()}


def test_a_smaller_size_is_refused_before_it_costs_the_data() -> None:
    [blocker] = size_blockers("dev", wanted(fast=2400), deployed())
    assert str(blocker) == (
        "- storage.fast.sizeGib: 2400, but the file system has 4800; FSx lets a file system grow and never shrink.\n"
        "  Set it back to 4800. For 2400, add a storage of another name and copy the data there."
    )


@pytest.mark.parametrize("storage", [{"fast": 4800}, {"fast": 7200}, {"other": 1200}, {"dev-lustre-fast": 1200}, {}])
def test_other_sizes_and_other_storage_are_not(storage: dict[str, int]) -> None:
    assert not list(size_blockers("dev", wanted(**storage), deployed()))


def test_what_is_to_be_deleted_has_no_size() -> None:
    assert not list(size_blockers("dev", wanted(fast=1200), deployed(delete=True)))
