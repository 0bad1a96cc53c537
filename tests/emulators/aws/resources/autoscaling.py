"""Auto Scaling: tags and scheduled actions of groups that EKS made.

Sources: group_tag.go and schedule.go in internal/service/autoscaling.
"""

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


_SIZES: Final = {"minSize": "MinSize", "maxSize": "MaxSize", "desiredCapacity": "DesiredCapacity"}
_LEFT_OUT: Final = -1


def _sizes(given: Given) -> Params:
    """Return the sizes: 0 for those that the program leaves out, None for those that it does not want to be sent."""
    sizes = {member: int(given.new.get(name, 0)) for name, member in _SIZES.items()}
    return {member: None if size == _LEFT_OUT else size for member, size in sizes.items()}


def _put(given: Given) -> Params:
    """Return a change: the whole action, with the start that AWS computed for the old one."""
    start = given.keys.get("startTime")
    return {
        "AutoScalingGroupName": given.keys["autoscalingGroupName"],
        "ScheduledActionName": given.keys["id"],
        **({"StartTime": start} if start else {}),
        **_sizes(given),
    }


SCHEDULE: Final = Kind(
    noun="Auto Scaling Scheduled Action",
    id="{scheduledActionName}",
    imported="{autoscalingGroupName}/{scheduledActionName}",
    create=_sizes,
    look=DescribeCall(
        "autoscaling",
        "DescribeScheduledActions",
        {"AutoScalingGroupName": "{autoscalingGroupName}", "ScheduledActionNames": ["{scheduledActionName}"]},
        "ScheduledUpdateGroupActions[0]",
        shape="ScheduledUpdateGroupActions",
    ),
    told={
        "minSize": "not_null(MinSize, `-1`)",
        "maxSize": "not_null(MaxSize, `-1`)",
        "desiredCapacity": "not_null(DesiredCapacity, `-1`)",
    },
    changes=(
        Change(
            inputs=("minSize", "maxSize", "desiredCapacity", "recurrence", "timeZone", "startTime", "endTime"),
            request=Request("autoscaling", "PutScheduledUpdateGroupAction"),
            build=_put,
        ),
    ),
    removal=Removal(
        (
            (
                "autoscaling",
                "DeleteScheduledAction",
                {"AutoScalingGroupName": "{autoscalingGroupName}", "ScheduledActionName": "{scheduledActionName}"},
            ),
        )
    ),
)

KINDS: Final = {"aws:autoscaling/schedule:Schedule": SCHEDULE, "aws:autoscaling/tag:Tag": TAG}
"""By type token."""
