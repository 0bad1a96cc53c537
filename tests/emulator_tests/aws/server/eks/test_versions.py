from datetime import UTC, datetime, timedelta

import pytest

from components.contract.kubernetes_minors import MINORS, READ_ON, KubernetesMinor, Support, calendar, offered
from emulators.aws.server.eks import versions
from emulators.aws.server.eks.store import Cluster, Resource
from emulators.aws.server.errors import AwsError
from support.aws import refused
from support.eks_account import Account
from support.minors import CHOSEN, EARLIER, NEWEST, OLDER, after


def cluster(version: str, *groups: str) -> Cluster:
    return Cluster(
        {"name": "c", "version": version},
        groups={f"g{number}": Resource({"version": each}) for number, each in enumerate(groups)},
    )


def test_the_emulator_has_every_version_that_a_stack_file_may_choose() -> None:
    for version in offered("eks"):
        assert versions.status(version) == "STANDARD_SUPPORT"


@pytest.mark.parametrize(
    ("left", "extended", "status"),
    [
        (0, 365, "STANDARD_SUPPORT"),
        (-1, 364, "EXTENDED_SUPPORT"),
        (-365, 0, "EXTENDED_SUPPORT"),
        (-366, -1, "UNSUPPORTED"),
    ],
)
def test_support_is_judged_by_the_dates(left: int, extended: int, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ends, extended_ends = (READ_ON + timedelta(days=days) for days in (left, extended))
    monkeypatch.setitem(MINORS, "1.99", KubernetesMinor(support={"eks": Support(ends, None, extended_ends)}))
    assert versions.status("1.99") == status
    assert versions.status("1.30") == "UNSUPPORTED"


@pytest.mark.parametrize("groups", [[], [OLDER], [after(EARLIER, -1), OLDER]])
def test_one_minor_version_up_is_a_step(groups: list[str]) -> None:
    assert versions.check_upgrade(cluster(OLDER, *groups), CHOSEN) == "VersionUpdate"


@pytest.mark.parametrize("wanted", [EARLIER, OLDER, NEWEST])
def test_no_other_step_is_one(wanted: str) -> None:
    with pytest.raises(AwsError, match=f"Unsupported Kubernetes minor version update from {OLDER} to {wanted}"):
        versions.check_upgrade(cluster(OLDER), wanted)


def test_a_group_may_not_be_left_four_behind() -> None:
    with pytest.raises(AwsError, match="Nodegroups g0 must be updated") as caught:
        versions.check_upgrade(cluster(OLDER, after(EARLIER, -2), OLDER), CHOSEN)
    assert caught.value.code == "InvalidRequestException"


def test_an_upgrade_can_be_undone_for_a_week_if_no_group_would_be_ahead() -> None:
    upgraded = cluster(CHOSEN, OLDER)
    upgraded.upgraded = (OLDER, datetime.now(UTC) - timedelta(days=6))
    assert versions.check_upgrade(upgraded, OLDER) == "VersionRollback"
    upgraded.groups["g0"].body["version"] = CHOSEN
    with pytest.raises(AwsError, match="would be ahead"):
        versions.check_upgrade(upgraded, OLDER)
    upgraded.upgraded = (OLDER, datetime.now(UTC) - timedelta(days=8))
    with pytest.raises(AwsError, match="Unsupported Kubernetes minor version update"):
        versions.check_upgrade(upgraded, OLDER)


def test_nodes_go_back_where_the_control_plane_may() -> None:
    upgraded = cluster(CHOSEN, CHOSEN)
    upgraded.upgraded = (OLDER, datetime.now(UTC) - timedelta(days=6))
    present = f"{CHOSEN}.2-20261105"
    versions.check_group_version(upgraded, present, OLDER, f"{OLDER}.2-20260101")
    for version in (EARLIER, CHOSEN):
        with pytest.raises(AwsError, match="cannot be rolled back"):
            versions.check_group_version(upgraded, present, version, f"{version}.2-20260101")
    upgraded.upgraded = (OLDER, datetime.now(UTC) - timedelta(days=8))
    with pytest.raises(AwsError, match="cannot be rolled back"):
        versions.check_group_version(upgraded, present, OLDER, f"{OLDER}.2-20260101")


@pytest.mark.parametrize(
    ("present", "version", "release", "words"),
    [
        (f"{OLDER}.2-20260101", EARLIER, f"{EARLIER}.9-20260601", "cannot be rolled back"),
        (f"{OLDER}.2-20260601", OLDER, f"{OLDER}.2-20260101", "cannot be rolled back"),
        (f"{OLDER}.2-20260101", NEWEST, f"{NEWEST}.0-20261105", "cannot be ahead"),
        (f"{OLDER}.2-20260101", CHOSEN, f"{OLDER}.2-20261105", f"is not valid for kubernetes version {CHOSEN}"),
        (f"{OLDER}.2-20260101", "9.99", "9.99.0-20261105", "unsupported Kubernetes version"),
    ],
)
def test_nodes_go_neither_back_nor_ahead(present: str, version: str, release: str, words: str) -> None:
    with pytest.raises(AwsError, match=words):
        versions.check_group_version(cluster(CHOSEN), present, version, release)


def test_versions_are_described_newest_first(home: Account) -> None:
    found = home.eks.describe_cluster_versions()["clusterVersions"]
    assert [each["clusterVersion"] for each in found] == [*reversed(calendar("eks"))][: len(found)]
    assert {each["versionStatus"] for each in found} == {"STANDARD_SUPPORT", "EXTENDED_SUPPORT"}
    assert [each["clusterVersion"] for each in found if each["defaultVersion"]] == [versions.default_version()]
    only = home.eks.describe_cluster_versions(versionStatus="STANDARD_SUPPORT")["clusterVersions"]
    assert [each["clusterVersion"] for each in only] == [*reversed(offered("eks"))]
    everything = home.eks.describe_cluster_versions(includeAll=True)["clusterVersions"]
    assert everything[-1]["versionStatus"] == "UNSUPPORTED"
    assert len(home.eks.describe_cluster_versions(defaultOnly=True)["clusterVersions"]) == 1
    named = home.eks.describe_cluster_versions(clusterVersions=["1.30"])["clusterVersions"]
    assert named[0]["endOfStandardSupportDate"].date().isoformat() == "2025-07-23"


def test_a_refused_upgrade_changes_nothing(home: Account) -> None:
    name = home.cluster(version=EARLIER)
    with refused("InvalidParameterException"):
        home.eks.update_cluster_version(name=name, version=CHOSEN)
    found = home.eks.describe_cluster(name=name)["cluster"]
    assert (found["version"], found["status"]) == (EARLIER, "ACTIVE")
    assert home.eks.list_updates(name=name)["updateIds"] == []
