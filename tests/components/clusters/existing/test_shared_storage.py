from typing import Any

import pytest

from infra.program import run
from support.existing import config, sighting_of
from support.recorder import Recorder, record
from workbench.report.dangers import kind_of

VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"

CHANGES: dict[str, Any] = {
    "storage": {
        "corpus": {"purpose": "dataset", "type": "files", "storageClass": "nfs"},
        "temporary": {"purpose": "scratch", "type": "files", "storageClass": "nfs"},
    },
    "namespaces": {
        "jobs": {
            "volumes": {"shared": {"storage": "corpus", "sizeGib": 200}, "work": {"storage": "temporary", "sizeGib": 5}}
        }
    },
}


def stored(**changes: Any) -> Recorder:
    stack = config({**CHANGES, **changes})
    return record(lambda: run(stack, sighting=sighting_of(stack)))


def test_a_claim_asks_the_named_class_for_its_size_and_nothing_else_is_made() -> None:
    made = stored()
    claim = made.of_type(CLAIM)["igz-jobs.shared"]
    assert claim["metadata"]["name"] == "shared"
    assert claim["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "volumeMode": "Filesystem",
        "storageClassName": "nfs",
        "resources": {"requests": {"storage": "200Gi"}},
    }
    assert not made.of_type(VOLUME)
    assert not made.of_type(STORAGE_CLASS)


def test_a_claim_says_what_it_is_for_and_its_loss_needs_an_approval_unless_that_is_scratch() -> None:
    kinds = {name: kind_of(CLAIM, name, claim) for name, claim in stored().of_type(CLAIM).items()}
    assert kinds == {"igz-jobs.shared": "shared storage", "igz-jobs.work": ""}


@pytest.mark.parametrize(("environment", "protected"), [("prod", ["igz-jobs.shared"]), ("dev", [])])
def test_production_protects_claims_whose_driver_may_delete_what_nobody_can_compute_again(
    environment: str, protected: list[str]
) -> None:
    made = stored(**{"environment": environment, "pools.initial.size": {"min": 3, "max": 3}})
    assert [name for name in made.of_type(CLAIM) if made.options[CLAIM, name].protect] == protected
