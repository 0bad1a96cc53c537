"""VPC endpoints and flow logs."""

from typing import Any, Final

from emulators.aws.resources.ec2.shared import TAGGING, first
from emulators.aws.resources.kinds import Change, Given, Kind, Params, Removal, State
from workbench.offline.aws.operations import Request


def _moved(given: Given) -> Params:
    """Return what to add to an endpoint and what to take from it."""
    members: dict[str, Any] = {}
    for name, member in {
        "routeTableIds": "RouteTableIds",
        "securityGroupIds": "SecurityGroupIds",
        "subnetIds": "SubnetIds",
    }.items():
        old, new = set(given.old.get(name) or ()), set(given.new.get(name) or ())
        members[f"Add{member}"] = sorted(new - old) or None
        members[f"Remove{member}"] = sorted(old - new) or None
    if given.old.get("policy") != given.new.get("policy"):
        members |= {"PolicyDocument": given.new.get("policy"), "ResetPolicy": None if given.new.get("policy") else True}
    if given.old.get("privateDnsEnabled") != given.new.get("privateDnsEnabled"):
        members["PrivateDnsEnabled"] = bool(given.new.get("privateDnsEnabled"))
    return members


ENDPOINT: Final = Kind(
    noun="EC2 VPC Endpoint",
    made="VpcEndpoint.VpcEndpointId",
    keys={"VpcEndpointId": "{id}"},
    look=first("DescribeVpcEndpoints", "VpcEndpointIds", "VpcEndpoints"),
    gone=frozenset({"InvalidVpcEndpointId.NotFound", "InvalidVpcEndpoint.NotFound"}),
    told={"policy": "PolicyDocument", "securityGroupIds": "Groups[].GroupId"},
    outputs={
        "dnsEntries": "DnsEntries[].{dnsName: DnsName, hostedZoneId: HostedZoneId}",
        "networkInterfaceIds": "NetworkInterfaceIds",
        "ownerId": "OwnerId",
        "requesterManaged": "RequesterManaged",
        "state": "State",
    },
    arn="ec2:vpc-endpoint/{id}",
    state=State(
        "State",
        "available",
        frozenset({"pending"}),
        gone=frozenset({"deleted"}),
        reasons="[LastError.Message] | [?@]",
    ),
    changes=(
        Change(
            inputs=("policy", "privateDnsEnabled", "routeTableIds", "securityGroupIds", "subnetIds"),
            request=Request("ec2", "ModifyVpcEndpoint", inside=None),
            build=_moved,
        ),
    ),
    tagging=TAGGING,
    tag_type="vpc-endpoint",
    removal=Removal((("ec2", "DeleteVpcEndpoints", {"VpcEndpointIds": ["{id}"]}),)),
)


def _flow_log(given: Given) -> Params:
    kinds = {"vpcId": "VPC", "subnetId": "Subnet", "eniId": "NetworkInterface"}
    return {"ResourceType": next(kind for name, kind in kinds.items() if given.new.get(name))}


FLOW_LOG: Final = Kind(
    noun="Flow Log",
    made="FlowLogIds[0]",
    look=first("DescribeFlowLogs", "FlowLogIds", "FlowLogs"),
    gone=frozenset({"InvalidFlowLogId.NotFound"}),
    told={"iamRoleArn": "DeliverLogsPermissionArn", "vpcId": "ResourceId"},
    arn="ec2:vpc-flow-log/{id}",
    create=_flow_log,
    tagging=TAGGING,
    tag_type="vpc-flow-log",
    removal=Removal((("ec2", "DeleteFlowLogs", {"FlowLogIds": ["{id}"]}),)),
)

KINDS: Final = {
    "aws:ec2/flowLog:FlowLog": FLOW_LOG,
    "aws:ec2/vpcEndpoint:VpcEndpoint": ENDPOINT,
}
"""By type token."""
