"""The account of a stack without cloud resources: every query returns nothing."""

from collections.abc import Mapping, Sequence

from typing_extensions import override

from workbench.engine.clouds.cluster_component import ClusterComponent, Condition
from workbench.recovery.cloud.account import Account
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult


class NullAccount(Account):
    """No cloud. Objects in the cluster have fixed names, by which the next refresh finds them."""

    place = "the live cluster"
    is_a_cloud = False

    @override
    def conditions(self, components: Sequence[ClusterComponent]) -> Mapping[str, Condition]:
        return {}

    @override
    def knows(self, type_: str) -> bool:
        return False

    @override
    def search(self, query: LookupQuery) -> list[LookupResult]:
        return []

    @override
    def is_ours(self, tags: Mapping[str, str]) -> bool:
        return False

    @override
    def tagged_resources(self) -> list[CloudResource]:
        return []
