"""KMS: keys and their names. Sources: internal/service/kms/{key,alias}.go."""

from typing import Final

from emulators.aws.resources.kinds import (
    Change,
    DescribeCall,
    Given,
    Kind,
    Minutes,
    Params,
    Removal,
    State,
    Tagging,
    if_dropped,
)
from workbench.offline.aws.operations import Request

LONGEST_WINDOW: Final = 30
"""Days until a key is gone, where the program says nothing; AWS's own default."""

_KEY: Final = {"KeyId": "{id}"}


def _rotation(given: Given) -> Params | None:
    days = given.new.get("rotationPeriodInDays")
    return {"RotationPeriodInDays": int(days) if days else None} if given.new.get("enableKeyRotation") else None


KEY: Final = Kind(
    noun="KMS Key",
    made="KeyMetadata.KeyId",
    keys=_KEY,
    look=DescribeCall("kms", "DescribeKey", _KEY, "KeyMetadata"),
    more={
        "enableKeyRotation": DescribeCall("kms", "GetKeyRotationStatus", _KEY, "KeyRotationEnabled"),
        "policy": DescribeCall("kms", "GetKeyPolicy", {**_KEY, "PolicyName": "default"}, "Policy"),
        "Tags": DescribeCall("kms", "ListResourceTags", _KEY, "Tags"),
    },
    # A second deletion is refused by the state that the first one gave it.
    gone=frozenset({"NotFoundException", "KMSInvalidStateException"}),
    told={"enableKeyRotation": "enableKeyRotation", "isEnabled": "Enabled", "policy": "policy"},
    carried=frozenset({"bypassPolicyLockoutSafetyCheck", "deletionWindowInDays", "rotationPeriodInDays"}),
    outputs={"arn": "Arn", "keyId": "KeyId"},
    # A key that waits for its end is gone for everybody else: nothing can be done with it.
    state=State("KeyState", "Enabled", frozenset({"Creating"}), frozenset({"PendingDeletion"})),
    minutes=Minutes(create=2, update=2, delete=20),
    changes=(
        Change(
            inputs=("enableKeyRotation", "rotationPeriodInDays"),
            request=Request("kms", "EnableKeyRotation", inside=None),
            build=_rotation,
            is_also_first=True,
        ),
        Change(
            inputs=("enableKeyRotation",),
            request=Request("kms", "DisableKeyRotation"),
            build=if_dropped("enableKeyRotation"),
        ),
        Change(
            inputs=("description",),
            request=Request("kms", "UpdateKeyDescription"),
            build=lambda given: {"Description": given.new.get("description") or ""},
        ),
        Change(inputs=("policy",), request=Request("kms", "PutKeyPolicy"), build=lambda _: {"PolicyName": "default"}),
    ),
    tagging=Tagging("kms", "TagResource", "UntagResource", _KEY, "Tags", "TagKeys"),
    removal=Removal(
        (
            (
                "kms",
                "ScheduleKeyDeletion",
                {**_KEY, "PendingWindowInDays": lambda keys: int(keys.get("deletionWindowInDays") or LONGEST_WINDOW)},
            ),
        )
    ),
)

_ALIAS: Final = {"AliasName": "{name}"}

ALIAS: Final = Kind(
    noun="KMS Alias",
    id="{name}",
    keys=_ALIAS,
    look=DescribeCall("kms", "ListAliases", {}, "Aliases[?AliasName=='{name}'] | [0]", shape="Aliases"),
    gone=frozenset({"NotFoundException"}),
    told={"name": "AliasName"},
    outputs={"arn": "AliasArn", "targetKeyArn": "join(':key/', [AliasArn, TargetKeyId])"},
    changes=(Change(inputs=("targetKeyId",), request=Request("kms", "UpdateAlias")),),
    removal=Removal((("kms", "DeleteAlias", _ALIAS),)),
)

KINDS: Final = {"aws:kms/alias:Alias": ALIAS, "aws:kms/key:Key": KEY}
"""By type token."""
