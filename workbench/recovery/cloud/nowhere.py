"""The place of a stack that makes nothing outside its cluster: there is nobody to ask, and nothing to be found."""

from collections.abc import Mapping, Sequence

from typing_extensions import override

from workbench.engine.clouds.part import Condition, Part
from workbench.recovery.cloud.account import Account
from workbench.recovery.cloud.found import Found, Wanted
from workbench.recovery.cloud.thing import Thing


class Nowhere(Account):
    """No cloud. Objects in the cluster have fixed names, by which the next refresh finds what a lost run made."""

    place = "what is live"
    is_a_cloud = False

    @override
    def conditions(self, parts: Sequence[Part]) -> Mapping[str, Condition]:
        return {}

    @override
    def knows(self, type_: str) -> bool:
        return False

    @override
    def search(self, wanted: Wanted) -> list[Found]:
        return []

    @override
    def is_ours(self, tags: Mapping[str, str]) -> bool:
        return False

    @override
    def carrying(self) -> list[Thing]:
        return []
