"""Auto Scaling: tags of groups that EKS made. Source: internal/service/autoscaling/group_tag.go."""

from typing import Final

from emulators.aws.resources.kinds import Change, DescribeCall, Given, Kind, Params, Removal
from workbench.offline.aws.operations import Request


def _named(given: Given) -> Params:
    tag = given.new["tag"]
    return {
        "Tags": [
            {
                "ResourceId": given.new["autoscalingGroupName"],
                "ResourceType": "auto-scaling-group",
                "Key": tag["key"],
                "Value": str(tag["value"]),
                "PropagateAtLaunch": bool(tag["propagateAtLaunch"]),
            }
        ]
    }


TAG: Final = Kind(
    noun="Auto Scaling Group Tag",
    id="{autoscalingGroupName},{key}",
    derived={"key": lambda keys: keys["tag"]["key"] if "tag" in keys else keys["key"]},
    create=_named,
    look=DescribeCall(
        "autoscaling",
        "DescribeTags",
        {
            "Filters": [
                {"Name": "auto-scaling-group", "Values": ["{autoscalingGroupName}"]},
                {"Name": "key", "Values": ["{key}"]},
            ]
        },
        "Tags[?Key=='{key}'] | [0]",
        shape="Tags",
    ),
    told={"autoscalingGroupName": "ResourceId", "tag": "@"},
    changes=(Change(inputs=("tag",), request=Request("autoscaling", "CreateOrUpdateTags", inside=None), build=_named),),
    removal=Removal(
        (
            (
                "autoscaling",
                "DeleteTags",
                {
                    "Tags": [
                        {
                            "ResourceId": "{autoscalingGroupName}",
                            "ResourceType": "auto-scaling-group",
                            "Key": "{key}",
                        }
                    ]
                },
            ),
        )
    ),
)

KINDS: Final = {"aws:autoscaling/tag:Tag": TAG}
"""By type token."""
