"""IAM: roles and what they may do. Sources: internal/service/iam/{role,role_policy,role_policy_attachment}.go."""

from typing import Final

from emulators.aws.resources.kinds import Change, DescribeCall, Kind, Removal, Tagging, if_dropped, if_given
from workbench.offline.aws.operations import Request

_GONE: Final = frozenset({"NoSuchEntity"})
_ROLE: Final = {"RoleName": "{name}"}


ROLE: Final = Kind(
    noun="IAM Role",
    id="{name}",
    keys=_ROLE,
    look=DescribeCall("iam", "GetRole", _ROLE, "Role"),
    gone=_GONE,
    told={
        "name": "RoleName",
        "assumeRolePolicy": "AssumeRolePolicyDocument",
        "permissionsBoundary": "PermissionsBoundary.PermissionsBoundaryArn",
    },
    carried=frozenset({"forceDetachPolicies"}),
    outputs={"arn": "Arn", "createDate": "CreateDate", "uniqueId": "RoleId"},
    changes=(
        Change(
            inputs=("assumeRolePolicy",),
            request=Request("iam", "UpdateAssumeRolePolicy", {"assumeRolePolicy": "PolicyDocument"}),
        ),
        Change(inputs=("description", "maxSessionDuration"), request=Request("iam", "UpdateRole")),
        Change(
            inputs=("permissionsBoundary",),
            request=Request("iam", "PutRolePermissionsBoundary"),
            build=if_given("permissionsBoundary"),
        ),
        Change(
            inputs=("permissionsBoundary",),
            request=Request("iam", "DeleteRolePermissionsBoundary"),
            build=if_dropped("permissionsBoundary"),
        ),
    ),
    tagging=Tagging("iam", "TagRole", "UntagRole", _ROLE, "Tags", "TagKeys"),
    removal=Removal((("iam", "DeleteRole", _ROLE),)),
)

_POLICY: Final = {"RoleName": "{role}", "PolicyName": "{name}"}

ROLE_POLICY: Final = Kind(
    noun="IAM Role Policy",
    id="{role}:{name}",
    keys=_POLICY,
    look=DescribeCall("iam", "GetRolePolicy", _POLICY, "@"),
    gone=_GONE,
    told={"name": "PolicyName", "policy": "PolicyDocument", "role": "RoleName"},
    changes=(Change(inputs=("policy",), request=Request("iam", "PutRolePolicy", {"policy": "PolicyDocument"})),),
    removal=Removal((("iam", "DeleteRolePolicy", _POLICY),)),
)

_ATTACHMENT: Final = {"RoleName": "{role}", "PolicyArn": "{policyArn}"}

ROLE_POLICY_ATTACHMENT: Final = Kind(
    noun="IAM Role Policy Attachment",
    id="{role}/{policyArn}",
    look=DescribeCall(
        "iam",
        "ListAttachedRolePolicies",
        {"RoleName": "{role}"},
        "AttachedPolicies[?PolicyArn=='{policyArn}'] | [0]",
        shape="AttachedPolicies",
    ),
    gone=_GONE,
    removal=Removal((("iam", "DetachRolePolicy", _ATTACHMENT),)),
)

KINDS: Final = {
    "aws:iam/role:Role": ROLE,
    "aws:iam/rolePolicy:RolePolicy": ROLE_POLICY,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": ROLE_POLICY_ATTACHMENT,
}
"""By type token."""
