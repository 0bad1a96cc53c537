"""What is read of a cluster for a passport."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from components.contract.people_rights import ROLES, PeopleRole
from support.passports import UID, others
from support.verification import site
from workbench.passport.reading import read
from workbench.system.errors import UserError


@dataclass
class Fake:
    """An API server that holds some objects."""

    objects: list[dict[str, Any]]
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, *arguments: str, stdin: str = "") -> str:
        self.asked.append(arguments)
        if "/version" in arguments:
            return json.dumps({"gitVersion": "v1.36.1"})
        if "/apis" in arguments:
            return json.dumps({"groups": [{"versions": [{"groupVersion": "resource.k8s.io/v1"}]}]})
        if "--raw" in arguments:
            return json.dumps({"resources": [{"name": "mutatingadmissionpolicies"}]})
        return json.dumps({"items": [] if stdin else self.objects})


def test_uid_version_and_apis_are_read() -> None:
    seen = read(Fake(others()), site("existing").contract)  # type: ignore[arg-type] all of an Api that is used here
    assert (seen.uid, seen.version, seen.served) == (UID, "v1.36.1", {"resource.k8s.io/v1"})
    assert seen.contract.mutates
    assert seen.snapshot.get("DaemonSet", "kube-proxy", "kube-system")


def test_nothing_but_get_is_asked_and_no_secret() -> None:
    fake = Fake(others())
    read(fake, site("existing").contract)  # type: ignore[arg-type] all of an Api that is used here
    assert {arguments[0] for arguments in fake.asked} == {"get"}
    assert [arguments for arguments in fake.asked if "secret" in " ".join(arguments)] == []


def test_the_verifiers_role_is_enough() -> None:
    fake = Fake(others())
    read(fake, site("existing").contract)  # type: ignore[arg-type] all of an Api that is used here
    listed = {kind.partition(".")[0] for _, what, *_ in fake.asked if what[0].isalpha() for kind in what.split(",")}
    allowed = {name for right in ROLES[PeopleRole.VERIFIER] for names in right.resources.values() for name in names}
    assert {each.partition("/")[0] for each in listed} <= allowed


def test_a_cluster_without_kube_system_is_refused() -> None:
    with pytest.raises(UserError, match="has no namespace kube-system, by which a passport identifies it"):
        read(Fake([]), site("existing").contract)  # type: ignore[arg-type] all of an Api that is used here
