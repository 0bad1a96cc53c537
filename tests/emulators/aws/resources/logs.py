"""CloudWatch Logs: groups. Source: internal/service/logs/group.go."""

from typing import Final

from emulators.aws.resources.kinds import Change, DescribeCall, Kind, Removal, Tagging, if_dropped, if_given
from workbench.offline.aws.operations import Request

_GROUP: Final = {"logGroupName": "{name}"}

LOG_GROUP: Final = Kind(
    noun="CloudWatch Logs Log Group",
    id="{name}",
    keys=_GROUP,
    look=DescribeCall(
        "logs",
        "DescribeLogGroups",
        {"logGroupNamePrefix": "{name}"},
        "logGroups[?logGroupName=='{name}'] | [0]",
        shape="logGroups",
    ),
    more={
        "tags": DescribeCall("logs", "ListTagsForResource", {"resourceArn": lambda keys: _arn(keys["found"])}, "tags")
    },
    gone=frozenset({"ResourceNotFoundException"}),
    told={"name": "logGroupName"},
    carried=frozenset({"skipDestroy"}),
    arn="logs:log-group:{name}",
    changes=(
        Change(
            inputs=("retentionInDays",),
            request=Request("logs", "PutRetentionPolicy"),
            is_also_first=True,
            build=if_given("retentionInDays"),
        ),
        Change(
            inputs=("retentionInDays",),
            request=Request("logs", "DeleteRetentionPolicy", inside=None),
            build=if_dropped("retentionInDays"),
        ),
        Change(
            inputs=("kmsKeyId",),
            request=Request("logs", "AssociateKmsKey"),
            build=if_given("kmsKeyId"),
        ),
        Change(
            inputs=("kmsKeyId",),
            request=Request("logs", "DisassociateKmsKey", inside=None),
            build=if_dropped("kmsKeyId"),
        ),
    ),
    tagging=Tagging("logs", "TagResource", "UntagResource", {"resourceArn": "{arn}"}, "tags", "tagKeys"),
    removal=Removal((("logs", "DeleteLogGroup", _GROUP),)),
)


def _arn(found: dict[str, str]) -> str:
    # Tags want the name of the group itself, not that of all its streams.
    return found["arn"].removesuffix(":*")


KINDS: Final = {"aws:cloudwatch/logGroup:LogGroup": LOG_GROUP}
"""By type token."""
