import subprocess
import sys
from http.client import RemoteDisconnected
from typing import Any

import pytest

from emulators.azure.client import Emulator
from emulators.core.client import not_yet_there
from emulators.core.faults import ErrorRule, KillRule, LostRule, Moment
from support.aks_account import LOCATION, SUBSCRIPTION, Account, unique
from support.aws import eventually

GROUP_WRITE = "Microsoft.Resources/resourceGroups/write"


def group() -> str:
    return f"{SUBSCRIPTION}/resourceGroups/{unique('group-')}"


def made(az: Emulator, id_: str) -> bool:
    return id_ in az.inventory().get("azure-native:resources:ResourceGroup", [])


@pytest.mark.parametrize(
    ("method", "path", "version", "code"),
    [
        ("GET", "/tenants", "2024-03-01", "InvalidResourceId"),
        ("GET", f"{SUBSCRIPTION}/resourceGroups/g", "", "MissingApiVersionParameter"),
        ("GET", f"{SUBSCRIPTION}/resourceGroups/g", "new", "InvalidApiVersionParameter"),
        ("GET", f"{SUBSCRIPTION}/resourceGroups/g", "2019-01-01", "NoRegisteredProviderFound"),
        (
            "GET",
            f"{SUBSCRIPTION}/resourceGroups/g/providers/Microsoft.Web/sites/s",
            "2024-03-01",
            "InvalidResourceType",
        ),
        ("PATCH", f"{SUBSCRIPTION}/resourceGroups/g", "2024-03-01", "MethodNotAllowed"),
        ("PUT", f"{SUBSCRIPTION}/resourceGroups", "2024-03-01", "InvalidRequestUri"),
        ("POST", f"{SUBSCRIPTION}/resourceGroups/g/start", "2024-03-01", "NotImplemented"),
        ("GET", f"{SUBSCRIPTION}/operationresults/gone", "2024-03-01", "NotFound"),
    ],
)
def test_what_nobody_understands_is_refused(az: Emulator, method: str, path: str, version: str, code: str) -> None:
    before = len(az.calls())
    assert az.ask(method, path, version, {} if method in {"PUT", "PATCH"} else None).code == code
    assert [call.code for call in az.calls(before)] == [code]


def test_calls_are_told_in_order_with_what_they_are_about_and_all_they_say(own: Account) -> None:
    before, id_ = len(own.az.calls()), group()
    own.put(id_, {"location": LOCATION})
    own.refused("GET", f"{id_}-gone")
    own.ask("GET", f"{SUBSCRIPTION}/resourceGroups")
    assert [(call.operation, call.about, call.code) for call in own.az.calls(before)] == [
        (GROUP_WRITE, id_, ""),
        ("Microsoft.Resources/resourceGroups/read", f"{id_}-gone", "ResourceGroupNotFound"),
        ("Microsoft.Resources/resourceGroups/read", f"{SUBSCRIPTION}/resourceGroups", ""),
    ]
    assert own.az.calls(before)[0].params == {"query": {}, "body": {"location": LOCATION}}


def test_the_case_of_an_id_does_not_matter_and_stays_as_it_was_made(own: Account) -> None:
    shouted = own.get(own.subnet.replace("/resourceGroups/", "/RESOURCEgroups/").replace("/subnets/", "/SUBNETS/"))
    assert shouted["id"] == own.subnet


def test_lists_are_of_a_group_a_parent_or_a_subscription(own: Account) -> None:
    cluster = own.cluster()
    own.pool(cluster)

    def names(id_: str) -> list[str]:
        return [each["name"] for each in own.get(id_)["value"]]

    clusters = "providers/Microsoft.ContainerService/managedClusters"
    assert names(f"{own.group}/{clusters}") == [cluster.rpartition("/")[2]]
    assert cluster.rpartition("/")[2] in names(f"{SUBSCRIPTION}/{clusters}")
    assert len(names(f"{cluster}/agentPools")) == 2
    assert len(names(f"{own.subnet}/providers/Microsoft.Authorization/roleAssignments")) == 1
    assert own.group.rpartition("/")[2] in names(f"{SUBSCRIPTION}/resourceGroups")
    assert own.refused("GET", f"{own.group}-gone/{clusters}").code == "ResourceGroupNotFound"


def test_a_body_that_is_no_object_is_refused(own: Account) -> None:
    body: Any = []
    assert own.refused("PUT", group(), body).code == "InvalidRequestContent"


def test_errors_throttling_and_what_is_not_there_at_first(own: Account) -> None:
    id_ = group()
    own.az.set_faults(
        ErrorRule(operation=GROUP_WRITE, times=1, code="TooManyRequests", status=429, message="so it is"),
        not_yet_there("Microsoft.Resources/resourceGroups/read", "ResourceGroupNotFound", reads=2, about="*"),
    )
    told = own.refused("PUT", id_, {"location": LOCATION})
    assert (told.status, told.code, told.message) == (429, "TooManyRequests", "so it is")
    own.put(id_, {"location": LOCATION})
    assert [own.ask("GET", id_).status for _ in range(3)] == [404, 404, 200]


def test_a_lost_answer_was_work_done(own: Account) -> None:
    id_ = group()
    own.az.set_faults(LostRule(operation=GROUP_WRITE, about=id_))
    with pytest.raises((ConnectionError, OSError, RemoteDisconnected)):
        own.put(id_, {"location": LOCATION})
    assert made(own.az, id_)
    assert own.az.calls()[-1].code == "dropped"


@pytest.mark.parametrize("when", Moment)
def test_kill_ends_a_process_before_or_after_the_work(own: Account, when: Moment) -> None:
    id_ = group()
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as victim:
        own.az.set_faults(KillRule(operation=GROUP_WRITE, about=id_, pids=(victim.pid,), moment=when))
        with pytest.raises((ConnectionError, OSError, RemoteDisconnected)):
            own.put(id_, {"location": LOCATION})
        assert victim.wait(10) == -9
    assert made(own.az, id_) is (when is Moment.AFTER)


def test_what_takes_time_is_told_where_to_ask(own: Account) -> None:
    own.az.set_scale(10)
    told = own.put(own.network("networkSecurityGroups"), {"location": LOCATION})
    assert told.headers["azure-asyncoperation"].startswith(own.az.address)
    assert own.operation(told)["status"] == "InProgress"
    assert told.body["properties"]["provisioningState"] == "Creating"


def test_newer_work_takes_the_place_of_older(own: Account) -> None:
    own.az.set_scale(0.5)
    first = own.put(own.network("networkSecurityGroups"), {"location": LOCATION})
    own.delete(first.body["id"])
    assert eventually(lambda: own.operation(first)["status"] == "Canceled")
    assert eventually(lambda: own.ask("GET", first.body["id"]).status == 404)


def test_nothing_that_is_not_there_is_removed(own: Account) -> None:
    assert own.ask("DELETE", f"{own.subnet}-gone").status == 204
    assert own.ask("DELETE", own.cluster_id()).status == 204
