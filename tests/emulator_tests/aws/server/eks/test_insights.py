from collections.abc import Iterator
from typing import Any

import pytest

from support.aws import refused
from support.eks_account import Account
from support.minors import CHOSEN, OLDER

READINESS = {"categories": ["ROLLBACK_READINESS"]}


def insights(home: Account, name: str, **wanted: Any) -> dict[str, str]:
    found = home.eks.list_insights(clusterName=name, filter={**READINESS, **wanted})["insights"]
    return {each["name"]: each["insightStatus"]["status"] for each in found}


@pytest.fixture
def upgraded(home: Account) -> str:
    name = home.cluster(version=OLDER)
    home.eks.update_cluster_version(name=name, version=CHOSEN)
    return name


def test_a_new_cluster_has_no_way_back_and_no_insights(home: Account) -> None:
    name = home.cluster(version=CHOSEN)
    assert insights(home, name) == {}
    with refused("InvalidParameterException"):
        home.eks.update_cluster_version(name=name, version=OLDER)


def test_nodes_go_back_first_and_then_the_control_plane(home: Account, upgraded: str) -> None:
    group = home.group(upgraded)
    assert insights(home, upgraded, statuses=["ERROR"]) == {"Kubelet version skew": "ERROR"}
    with refused("InvalidRequestException"):
        home.eks.update_cluster_version(name=upgraded, version=OLDER)
    home.eks.update_nodegroup_version(clusterName=upgraded, nodegroupName=group, version=OLDER)
    assert home.read_group(upgraded, group)["version"] == OLDER
    assert "ERROR" not in insights(home, upgraded).values()
    update = home.eks.update_cluster_version(name=upgraded, version=OLDER)["update"]
    assert update["type"] == "VersionRollback"
    assert home.eks.describe_cluster(name=upgraded)["cluster"]["version"] == OLDER
    assert insights(home, upgraded) == {}, "it cannot go back twice"


@pytest.fixture
def as_usual(home: Account) -> Iterator[None]:
    """Let nothing hold around the account once a test is over."""
    yield
    home.aws.set_circumstances()


@pytest.mark.usefixtures("as_usual")
def test_an_error_of_any_insight_is_a_refusal_and_no_other_status_is(home: Account, upgraded: str) -> None:
    home.aws.set_circumstances(insights={"Cluster health issues": "ERROR"})
    with refused("InvalidRequestException") as caught:
        home.eks.update_cluster_version(name=upgraded, version=OLDER)
    assert "Cluster health issues" in str(caught.value)
    home.aws.set_circumstances(insights={"Cluster health issues": "UNKNOWN", "API usage": "WARNING"})
    home.eks.update_cluster_version(name=upgraded, version=OLDER)
