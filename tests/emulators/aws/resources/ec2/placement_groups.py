"""Placement groups. Source: internal/service/ec2/ec2_placement_group.go."""

from typing import Final

from emulators.aws.resources.kinds import DescribeCall, Kind, Removal, State, Tagging

PLACEMENT_GROUP: Final = Kind(
    noun="EC2 Placement Group",
    id="{name}",
    look=DescribeCall("ec2", "DescribePlacementGroups", {"GroupNames": ["{id}"]}, "PlacementGroups[0]"),
    gone=frozenset({"InvalidPlacementGroup.Unknown"}),
    state=State("State", "available", frozenset({"pending"}), frozenset({"deleted"})),
    told={"name": "GroupName"},
    outputs={"placementGroupId": "GroupId"},
    arn="ec2:placement-group/{id}",
    tagging=Tagging("ec2", "CreateTags", "DeleteTags", {"Resources": ["{placementGroupId}"]}, "Tags", "Tags"),
    tag_type="placement-group",
    removal=Removal((("ec2", "DeletePlacementGroup", {"GroupName": "{id}"}),)),
)

KINDS: Final = {"aws:ec2/placementGroup:PlacementGroup": PLACEMENT_GROUP}
"""By type token."""
