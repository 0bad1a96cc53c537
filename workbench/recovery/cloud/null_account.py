"""The place of a stack that makes nothing outside its cluster: there is nobody to ask, and nothing to be found."""

from collections.abc import Mapping, Sequence

from typing_extensions import override

from workbench.engine.clouds.cluster_component import ClusterComponent, Condition
from workbench.recovery.cloud.account import Account
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult


class NullAccount(Account):
    """No cloud. Objects in the cluster have fixed names, by which the next refresh finds what a lost run made."""

    place = "what is live"
    is_a_cloud = False

    @override
    def conditions(self, components: Sequence[ClusterComponent]) -> Mapping[str, Condition]:
        return {}

    @override
    def knows(self, type_: str) -> bool:
        return False

    @override
    def search(self, wanted: LookupQuery) -> list[LookupResult]:
        return []

    @override
    def is_ours(self, tags: Mapping[str, str]) -> bool:
        return False

    @override
    def tagged_resources(self) -> list[CloudResource]:
        return []
