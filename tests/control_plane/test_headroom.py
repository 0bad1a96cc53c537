"""Headroom of the local stack as a user gives it: a key of the stack file, one `up`, and pods behind all admission."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from components.contract.headroom import HEADROOM
from infra.config import CONFIG_KEY
from support.cluster import Cluster, eventually, new_cluster, pod
from workbench.stacks import FOLDER_VARIABLE, find

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

USER = {"igz-clusters.io/user-workloads": "true", "igz-clusters.io/pool": "workload"}
JOB: dict[str, Any] = {"cpu": "6", "memory": "8Gi", "nodeSelector": USER, "priorityClassName": "igz-workload-low"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("headroom")
    document = find("local").document
    pool = document["config"][CONFIG_KEY]["pools"]["workload"]
    pool |= {"size": {"min": 0, "max": 3}, "headroom": {"pods": 1, "cpu": "6", "memory": "8Gi"}}
    (folder / "Pulumi.local.yaml").write_text(yaml.safe_dump(document))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(folder))
        with new_cluster(folder / "data", is_quick=True) as cluster:
            cluster.up()
            yield cluster


def placeholders(cluster: Cluster) -> dict[str, str]:
    items = cluster.get("pods", "-n", HEADROOM)["items"]
    return {each["metadata"]["uid"]: each["spec"].get("nodeName", "") for each in items}


def test_admission_lets_placeholders_in_and_a_second_up_waits_for_none(kept: Cluster) -> None:
    assert list(eventually(lambda: placeholders(kept)).values()) == [""]
    assert re.fullmatch(r"\d+ unchanged", kept.up())


def test_a_job_of_the_lowest_class_starts_on_the_headroom_without_an_eviction(kept: Cluster) -> None:
    (first,) = eventually(lambda: kept.nodes(pool="workload"))
    before = placeholders(kept)
    kept.apply(pod("early", **JOB))
    assert eventually(lambda: kept.pod("early")["spec"].get("nodeName")) == first
    eventually(lambda: len(kept.nodes(pool="workload")) == 2)
    assert placeholders(kept) == before


@pytest.mark.parametrize(("field", "rule"), [("priorityClassName", "PR-05"), ("schedulerName", "PR-08")])
def test_a_job_that_poses_as_a_placeholder_is_refused(kept: Cluster, field: str, rule: str) -> None:
    refused = kept.apply(pod("impostor", **{**JOB, field: HEADROOM}), check=False)
    assert f"[{rule}]" in refused.stderr
