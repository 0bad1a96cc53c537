"""Whose log group of a control plane is: EKS itself makes one again for the last logs of a cluster that is gone."""

from dataclasses import dataclass, field
from typing import Any, cast

import boto3
import pytest
from typing_extensions import override

from components.contract.aws import control_plane_logs
from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.aws.searches import search
from workbench.recovery.cloud.lookup import LookupQuery
from workbench.recovery.cloud.plan import Outcome, answer_of

TYPE = "aws:cloudwatch/logGroup:LogGroup"
OWN = control_plane_logs("research")


@dataclass(frozen=True)
class Answering(AwsQueries):
    """An account with one log group, and perhaps a cluster."""

    group: str = OWN
    tags_of_group: dict[str, str] = field(default_factory=dict)
    cluster_there: dict[str, Any] | None = None

    @override
    def look_up(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        if operation == "describe_cluster":
            return {"cluster": self.cluster_there} if self.cluster_there else {}
        assert operation == "list_tags_for_resource"
        return {"tags": self.tags_of_group}

    @override
    def listed(self, service: str, operation: str, key: str, **parameters: Any) -> list[Any]:
        return [{"logGroupName": self.group, "arn": f"arn:aws:logs:::{self.group}:*"}]


def account(**differs: Any) -> Answering:
    return Answering(cast("boto3.Session", _Region()), "test", "research", **differs)


class _Region:
    region_name = "eu-west-1"


def outcome(there: Answering) -> Outcome:
    query = LookupQuery("urn:pulumi:test::igz-clusters::a::test-cluster-logs", TYPE, {"name": there.group})
    is_ours = lambda found: found.tags is None or there.is_ours(found.tags)  # noqa: E731
    return answer_of(query, search(there, query), frozenset(), is_ours).outcome


def test_a_group_without_tags_belongs_to_the_cluster_of_its_name() -> None:
    assert outcome(account()) is Outcome.CREATED
    assert outcome(account(cluster_there={"tags": account().tags})) is Outcome.CREATED


@pytest.mark.parametrize(
    "differs",
    [
        {"cluster_there": {"tags": {"team": "others"}}},
        {"cluster_there": {"name": "research"}},
        {"tags_of_group": {"team": "others"}},
        {"group": "/igz-clusters/research/flow"},
    ],
    ids=["their cluster", "their cluster without tags", "their tags", "another group"],
)
def test_a_group_of_others_is_never_taken(differs: dict[str, Any]) -> None:
    assert outcome(account(**differs)) is Outcome.FOREIGN
