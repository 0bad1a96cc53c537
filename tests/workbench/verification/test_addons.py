"""Checks of add-ons that a planted deviation does not show."""

from dataclasses import replace
from typing import Any

from support.verification import site
from workbench.engine.live_objects import LiveObject
from workbench.verification.addons import default_storage_class
from workbench.verification.snapshot import Snapshot


def test_a_class_of_shared_storage_is_not_taken_for_a_default_that_lost_its_mark() -> None:
    shared: dict[str, Any] = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "igz-corpus"},
    }
    recorded = {"urn": "corpus", "type": "kubernetes:storage.k8s.io/v1:StorageClass", "inputs": shared}
    contract = site("local").contract
    deployment = {**contract.deployment, "resources": [*contract.deployment["resources"], recorded]}
    outcome = default_storage_class(
        replace(contract, deployment=deployment), Snapshot({("StorageClass", "", "igz-corpus"): LiveObject(shared)})
    )
    assert (outcome.absent, outcome.deviations) == ("the stack declares no default StorageClass", ())
