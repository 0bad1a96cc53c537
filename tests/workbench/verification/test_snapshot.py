"""What is read of a cluster, and what of its refusals ends the reading."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from support.verification import manifest, site
from workbench.system.errors import UserError
from workbench.verification.contract import Contract
from workbench.verification.snapshot import Snapshot, take

OWN = manifest("PolicyParameters", "igz-clusters")
BUILT_IN = manifest("ConfigMap", "one", "mlrun")


@dataclass
class Fake:
    """An API server that holds some objects, and does not know the kinds in ``unknown``."""

    objects: list[dict[str, Any]]
    unknown: tuple[str, ...] = ()
    refusal: str = ""
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, *arguments: str, stdin: str = "") -> str:
        self.asked.append(arguments)
        if "--raw" in arguments:
            return json.dumps({"resources": [{"name": "validatingadmissionpolicies"}]})
        if not stdin:
            return json.dumps({"items": []})
        wanted = json.loads(stdin)["items"]
        if self.refusal:
            raise UserError(self.refusal)
        if unknown := [each["kind"] for each in wanted if each["kind"] in self.unknown]:
            raise UserError(f'error: no matches for kind "{unknown[0]}" in version "v1"')
        names = [each["metadata"]["name"] for each in wanted]
        found = [each for each in self.objects if each["metadata"]["name"] in names]
        return json.dumps(found[0]) if len(found) == 1 else json.dumps({"items": found}) if found else ""


def taken(fake: Fake) -> Snapshot:
    return take(fake, [OWN, BUILT_IN], ["mlrun"])  # type: ignore[arg-type] all of an Api that is used here


def test_declared_objects_are_read_by_their_names() -> None:
    snapshot = taken(Fake([OWN, BUILT_IN]))
    assert set(snapshot.objects) == {("PolicyParameters", "", "igz-clusters"), ("ConfigMap", "mlrun", "one")}
    assert not snapshot.mutates


def test_a_kind_that_the_server_does_not_know_leaves_the_others_readable() -> None:
    assert set(taken(Fake([OWN, BUILT_IN], ("PolicyParameters",))).objects) == {("ConfigMap", "mlrun", "one")}


def test_a_refusal_is_no_missing_object() -> None:
    with pytest.raises(UserError, match="forbidden"):
        taken(Fake([], refusal="configmaps is forbidden"))


def test_nothing_but_get_is_asked_and_no_secret() -> None:
    fake = Fake([OWN, BUILT_IN])
    taken(fake)
    assert {arguments[0] for arguments in fake.asked} == {"get"}
    assert [arguments for arguments in fake.asked if "secret" in " ".join(arguments)] == []


def test_a_declared_secret_is_not_compared() -> None:
    secret = {"urn": "s", "type": "kubernetes:core/v1:Secret", "inputs": manifest("Secret", "s", "mlrun")}
    contract = site("eks").contract
    deployment = {"resources": [*contract.deployment["resources"], secret]}
    assert Contract("test", contract.config, deployment).declared.keys() == contract.declared.keys()
