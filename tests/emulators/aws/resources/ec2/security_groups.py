"""Security groups and their rules."""

from typing import Any, Final

from emulators.aws.resources.ec2.shared import TAGGING, first
from emulators.aws.resources.kinds import Change, Given, Kind, Minutes, Params, Removal
from workbench.offline.aws.operations import Request

_GROUP_GONE: Final = frozenset({"InvalidGroup.NotFound", "InvalidGroupId.Malformed"})


def _revoked(direction: str, *inputs: str) -> Change:
    """Return the change that takes away the rules that AWS gives a group: all out, and members to each other."""
    member = {"Egress": "IpPermissionsEgress", "Ingress": "IpPermissions"}[direction]

    def build(given: Given) -> Params | None:
        groups = given.aws.call("ec2", "DescribeSecurityGroups", GroupIds=[given.keys["id"]])["SecurityGroups"]
        rules = groups[0].get(member)
        return {"GroupId": given.keys["id"], "IpPermissions": rules} if rules else None

    request = Request("ec2", f"RevokeSecurityGroup{direction}", inside=None)
    return Change(inputs=inputs, request=request, build=build, is_also_first=True)


SECURITY_GROUP: Final = Kind(
    noun="Security Group",
    made="GroupId",
    look=first("DescribeSecurityGroups", "GroupIds", "SecurityGroups"),
    gone=_GROUP_GONE,
    told={"name": "GroupName"},
    carried=frozenset({"revokeRulesOnDelete"}),
    outputs={"ownerId": "OwnerId"},
    arn="ec2:security-group/{id}",
    minutes=Minutes(create=10, delete=15),
    changes=(_revoked("Egress", "vpcId"),),
    tagging=TAGGING,
    tag_type="security-group",
    removal=Removal((("ec2", "DeleteSecurityGroup", {"GroupId": "{id}"}),)),
)


def _default_group(given: Given) -> Params:
    asked = [{"Name": "vpc-id", "Values": [given.new["vpcId"]]}, {"Name": "group-name", "Values": ["default"]}]
    group: dict[str, Any] = given.aws.call("ec2", "DescribeSecurityGroups", Filters=asked)["SecurityGroups"][0]
    if wanted := given.new.get("tags"):
        tags = [{"Key": key, "Value": str(value)} for key, value in wanted.items()]
        given.aws.call("ec2", "CreateTags", Resources=[group["GroupId"]], Tags=tags)
    return group


DEFAULT_SECURITY_GROUP: Final = Kind(
    noun="Default Security Group",
    made="GroupId",
    adopt=_default_group,
    look=first("DescribeSecurityGroups", "GroupIds", "SecurityGroups"),
    gone=_GROUP_GONE,
    carried=frozenset({"revokeRulesOnDelete"}),
    told={"ingress": "IpPermissions", "egress": "IpPermissionsEgress"},
    outputs={"description": "Description", "name": "GroupName", "ownerId": "OwnerId"},
    arn="ec2:security-group/{id}",
    changes=(_revoked("Ingress", "vpcId", "ingress"), _revoked("Egress", "vpcId", "egress")),
    tagging=TAGGING,
    removal=Removal(),  # AWS does not let it go before its VPC
)


def _rule(given: Given) -> dict[str, Any]:
    """Return a rule as EC2 takes a changed one."""
    members = {
        "cidrIpv4": "CidrIpv4",
        "cidrIpv6": "CidrIpv6",
        "description": "Description",
        "ipProtocol": "IpProtocol",
        "prefixListId": "PrefixListId",
        "referencedSecurityGroupId": "ReferencedGroupId",
    }
    rule: dict[str, Any] = {member: str(given.new[name]) for name, member in members.items() if name in given.new}
    ports = {"fromPort": "FromPort", "toPort": "ToPort"}
    return rule | {member: int(given.new[name]) for name, member in ports.items() if name in given.new}


def _changed_rule(given: Given) -> Params:
    rule = {"SecurityGroupRuleId": given.keys["id"], "SecurityGroupRule": _rule(given)}
    return {"GroupId": given.keys["securityGroupId"], "SecurityGroupRules": [rule]}


def _rules(direction: str) -> Kind:
    return Kind(
        noun=f"VPC Security Group {direction} Rule",
        made="SecurityGroupRules[0].SecurityGroupRuleId",
        look=first("DescribeSecurityGroupRules", "SecurityGroupRuleIds", "SecurityGroupRules"),
        gone=frozenset({"InvalidSecurityGroupRuleId.NotFound", "InvalidGroup.NotFound", "InvalidPermission.NotFound"}),
        told={
            "securityGroupId": "GroupId",
            "referencedSecurityGroupId": "ReferencedGroupInfo.GroupId",
            # A protocol without ports has -1 for both.
            "fromPort": "[FromPort] | [?@ != `-1`] | [0]",
            "toPort": "[ToPort] | [?@ != `-1`] | [0]",
        },
        outputs={"securityGroupRuleId": "SecurityGroupRuleId"},
        arn="ec2:security-group-rule/{id}",
        changes=(
            Change(
                inputs=tuple(_RULE_INPUTS),
                request=Request("ec2", "ModifySecurityGroupRules", inside=None),
                build=_changed_rule,
            ),
        ),
        tagging=TAGGING,
        tag_type="security-group-rule",
        removal=Removal(
            (
                (
                    "ec2",
                    f"RevokeSecurityGroup{direction}",
                    {"GroupId": "{securityGroupId}", "SecurityGroupRuleIds": ["{id}"]},
                ),
            )
        ),
    )


_RULE_INPUTS: Final = (
    "cidrIpv4",
    "cidrIpv6",
    "description",
    "fromPort",
    "ipProtocol",
    "prefixListId",
    "referencedSecurityGroupId",
    "toPort",
)

KINDS: Final = {
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": DEFAULT_SECURITY_GROUP,
    "aws:ec2/securityGroup:SecurityGroup": SECURITY_GROUP,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _rules("Egress"),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _rules("Ingress"),
}
"""By type token."""
