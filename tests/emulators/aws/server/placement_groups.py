"""EC2's placement groups, which moto lacks, on moto's own store of tags.

By botocore's model (ec2 2016-11-15); a group can be used at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, EC2_RESOURCE_TO_PREFIX

from emulators.aws.server import ACCOUNT, REGION, store
from emulators.aws.server.errors import AwsError

EC2_RESOURCE_TO_PREFIX["placement-group"] = "pg"
EC2_PREFIX_TO_RESOURCE["pg"] = "placement-group"
# moto gives tags to what it knows by the beginning of its id.


@dataclass(frozen=True)
class PlacementGroup:
    """One group, known by its name."""

    name: str
    id: str
    strategy: str

    @property
    def members(self) -> dict[str, Any]:
        """The group as EC2 describes it."""
        return {
            "GroupName": self.name,
            "GroupId": self.id,
            "GroupArn": f"arn:aws:ec2:{REGION}:{ACCOUNT}:placement-group/{self.name}",
            "State": "available",
            "Strategy": self.strategy,
            "Tags": [{"Key": key, "Value": value} for key, value in store.ec2().tags[self.id].items()],
        }


def groups() -> dict[str, PlacementGroup]:
    """Return the groups by name."""
    found: dict[str, PlacementGroup] = vars(store.ec2()).setdefault("placement_groups", {})
    return found


def zone_of(name: str) -> str | None:
    """Return the zone of the machines in a group; None while there are none."""
    for group in store.autoscaling().autoscaling_groups.values():
        if group.placement_group == name:
            for state in group.active_instances():
                return str(state.instance.placement.zone)
    return None


def require(name: str) -> PlacementGroup:
    """Return a group, or refuse a name that none has."""
    if name not in groups():
        raise AwsError("InvalidPlacementGroup.Unknown", 400, f"The Placement Group '{name}' is unknown.")
    return groups()[name]


def _create(params: dict[str, Any]) -> dict[str, Any]:
    name, strategy = params["GroupName"], params.get("Strategy", "cluster")
    if strategy != "cluster":
        raise AwsError("NotImplemented", 501, f"The AWS emulator has no placement groups of the strategy {strategy}.")
    if name in groups():
        # FDio/csit#179 has the words.
        told = f"The placement group '{name}' already exists."
        raise AwsError("InvalidPlacementGroup.Duplicate", 400, told)
    made = groups()[name] = PlacementGroup(name, f"pg-{uuid4().hex[:17]}", strategy)
    tags = [tag for each in params.get("TagSpecifications", ()) for tag in each["Tags"]]
    store.ec2().create_tags([made.id], {tag["Key"]: tag["Value"] for tag in tags})
    return {"PlacementGroup": made.members}


def _describe(params: dict[str, Any]) -> dict[str, Any]:
    named = [require(name) for name in params.get("GroupNames", ())]
    found = [each.members for each in named or groups().values()]
    for wanted in params.get("Filters", ()):
        found = [each for each in found if _fits(each, wanted["Name"], wanted["Values"])]
    return {"PlacementGroups": found}


def _fits(members: Mapping[str, Any], name: str, values: list[str]) -> bool:
    kind, _, key = name.partition(":")
    if kind == "tag":
        return any(tag["Key"] == key and tag["Value"] in values for tag in members["Tags"])
    member = {"group-name": "GroupName", "state": "State", "strategy": "Strategy"}.get(name)
    if member is None:
        raise AwsError("NotImplemented", 501, f"The AWS emulator has no filter {name} of placement groups.")
    return members[member] in values


def _delete(params: dict[str, Any]) -> dict[str, Any]:
    group = require(params["GroupName"])
    if zone_of(group.name):
        # scylladb/scylla-cluster-tests#6742 has the words.
        told = f"The placement group '{group.name}' is in use and may not be deleted."
        raise AwsError("InvalidPlacementGroup.InUse", 400, told)
    del groups()[group.name]
    store.ec2().tags.pop(group.id, None)
    return {}


OPERATIONS: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "ec2:CreatePlacementGroup": _create,
    "ec2:DeletePlacementGroup": _delete,
    "ec2:DescribePlacementGroups": _describe,
}
