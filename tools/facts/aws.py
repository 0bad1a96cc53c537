"""Generates ``workbench/offline/aws/facts.py``: what each AWS input is, and what a change of it does.

Run ``python -m tools.facts.aws --check`` to compare the checked-in file with its sources, ``--write`` to replace
it. Both work without a network. What comes from where:

- Names, types, and which inputs are required, generated: the classes of the installed ``pulumi-aws``, which Pulumi
  generates from the schema of the plug-in of the same version.
- What replaces a resource, what is a set, and what is deleted first, kept by hand in ``UPSTREAM``: Pulumi's plug-in
  bridges Terraform's AWS provider, and neither its schema nor its source is in a package. Read on ``READ_ON`` in
  stored copies of the files that the table names (repository hashicorp/terraform-provider-aws): ``ForceNew``,
  ``RequiresReplace``, ``CustomizeDiff``, ``TypeSet``. The table gives the year of each copy; none is certainly the
  release that the plug-in bridges. Of inputs younger than a copy it gives what the change that brought them says of
  itself, or somebody who used them, with link and date. Where neither does, they stay marked as not read.

To move to a newer ``pulumi-aws`` raise its pin, read the files again and set ``READ_ON``.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Final, NamedTuple

from tools.facts import sdk_inputs
from tools.facts.sdk_inputs import Declared, inputs, tuple_of, wrapped
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

READ_ON: Final = "2026-11-21"
"""When the files were last read; a constant, so that a run on another day is equal."""

TARGET: Final = PROJECT_ROOT / "workbench" / "offline" / "aws" / "facts.py"


class Later(NamedTuple):
    """What a source younger than the copy says of inputs that the copy does not know.

    Parameters
    ----------
    inputs
        As Pulumi spells them; what is inside them is meant too.
    change
        What a change of one does, in the words of ``workbench/offline/aws/inputs.py``.
    source
        Where it is said.
    date
        When it was said.
    """

    inputs: tuple[str, ...]
    change: str
    source: str
    date: str


class Upstream(NamedTuple):
    """What the source of one resource says.

    Parameters
    ----------
    file
        Path in hashicorp/terraform-provider-aws.
    copy_of
        Year of the copyright line of the copy that was read.
    replaces
        Inputs whose change replaces the resource, as Pulumi spells them.
    sets
        Lists whose order means nothing.
    replaces_if_removed
        Inputs whose removal replaces the resource; other changes update it.
    replaces_once_set
        Inputs whose change or removal replaces the resource; giving one where none was updates it.
    replaces_as_one
        Inputs of which exactly one is given; to give another one replaces the resource, to change it updates it.
    later
        What younger sources say of inputs that the copy does not know.
    unread
        Inputs of which no source says what a change does; it is taken for an update.
    recomputed
        Outputs that any update makes unknown again.
    deleted_first
        The old resource is deleted before the new one is made, also where the name is automatic.
    """

    file: str
    copy_of: int
    replaces: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    replaces_if_removed: tuple[str, ...] = ()
    replaces_once_set: tuple[str, ...] = ()
    replaces_as_one: tuple[str, ...] = ()
    later: tuple[Later, ...] = ()
    unread: tuple[str, ...] = ()
    recomputed: tuple[str, ...] = ()
    deleted_first: bool = False


_NAME: Final = ("name", "namePrefix")
_RULE_SETS: Final = ("ingress", "egress", "ingress[].securityGroups", "egress[].securityGroups")
_RULE: Final = Upstream(
    "internal/service/ec2/vpc_security_group_ingress_rule.go",
    2024,
    ("securityGroupId",),
    replaces_as_one=("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId"),
)

UPSTREAM: Final[Mapping[str, Upstream]] = {
    "autoscaling.Tag": Upstream("internal/service/autoscaling/group_tag.go", 2024, ("autoscalingGroupName", "tag.key")),
    "cloudwatch.LogGroup": Upstream("internal/service/logs/group.go", 2025, (*_NAME, "logGroupClass")),
    "ec2.DefaultSecurityGroup": Upstream(
        "internal/service/ec2/vpc_default_security_group.go", 2024, ("vpcId",), _RULE_SETS
    ),
    "ec2.Eip": Upstream(
        "internal/service/ec2/ec2_eip.go", 2024, ("address", "domain", "networkBorderGroup", "publicIpv4Pool")
    ),
    "ec2.FlowLog": Upstream(
        "internal/service/ec2/vpc_flow_log.go",
        2024,
        (
            "deliverCrossAccountRole",
            "destinationOptions",
            "eniId",
            "iamRoleArn",
            "logDestination",
            "logDestinationType",
            "logFormat",
            "maxAggregationInterval",
            "subnetId",
            "trafficType",
            "transitGatewayAttachmentId",
            "transitGatewayId",
            "vpcId",
        ),
    ),
    "ec2.InternetGateway": Upstream("internal/service/ec2/vpc_internet_gateway.go", 2024),
    "ec2.LaunchTemplate": Upstream(
        "internal/service/ec2/ec2_launch_template.go",
        2024,
        _NAME,
        (
            "vpcSecurityGroupIds",
            "securityGroupNames",
            "licenseSpecifications",
            "networkInterfaces[].securityGroups",
            "networkInterfaces[].ipv4Addresses",
            "networkInterfaces[].ipv4Prefixes",
            "networkInterfaces[].ipv6Addresses",
            "networkInterfaces[].ipv6Prefixes",
        ),
        recomputed=("latestVersion",),
    ),
    "ec2.NatGateway": Upstream(
        "internal/service/ec2/vpc_nat_gateway.go",
        2026,
        ("allocationId", "availabilityMode", "connectivityType", "privateIp", "subnetId", "vpcId"),
        (
            "availabilityZoneAddresses",
            "availabilityZoneAddresses[].allocationIds",
            "secondaryAllocationIds",
            "secondaryPrivateIpAddresses",
        ),
    ),
    "ec2.Route": Upstream(
        "internal/service/ec2/vpc_route.go",
        2024,
        ("routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId"),
    ),
    "ec2.RouteTable": Upstream(
        "internal/service/ec2/vpc_route_table.go", 2024, ("vpcId",), ("routes", "propagatingVgws")
    ),
    "ec2.RouteTableAssociation": Upstream(
        "internal/service/ec2/vpc_route_table_association.go", 2024, ("gatewayId", "subnetId")
    ),
    "ec2.SecurityGroup": Upstream(
        "internal/service/ec2/vpc_security_group.go", 2024, (*_NAME, "description", "vpcId"), _RULE_SETS
    ),
    "ec2.Subnet": Upstream(
        "internal/service/ec2/vpc_subnet.go",
        2025,
        ("availabilityZone", "availabilityZoneId", "cidrBlock", "ipv6Native", "outpostArn", "vpcId"),
    ),
    "ec2.Vpc": Upstream(
        "internal/service/ec2/vpc_.go",
        2024,
        ("cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"),
    ),
    "ec2.VpcEndpoint": Upstream(
        "internal/service/ec2/vpc_endpoint.go",
        2024,
        ("serviceName", "vpcEndpointType", "vpcId"),
        ("routeTableIds", "securityGroupIds", "subnetIds", "subnetConfigurations"),
    ),
    "eks.AccessEntry": Upstream(
        "internal/service/eks/access_entry.go",
        2024,
        ("clusterName", "principalArn", "type"),
        ("kubernetesGroups",),
    ),
    "eks.AccessPolicyAssociation": Upstream(
        "internal/service/eks/access_policy_association.go",
        2026,
        ("accessScope", "clusterName", "policyArn", "principalArn"),
        ("accessScope.namespaces",),
    ),
    "eks.Addon": Upstream(
        "internal/service/eks/addon.go",
        2026,
        ("addonName", "clusterName", "namespaceConfig"),
        ("podIdentityAssociations",),
    ),
    "eks.Cluster": Upstream(
        "internal/service/eks/cluster.go",
        2026,
        (
            "accessConfig.bootstrapClusterCreatorAdminPermissions",
            "bootstrapSelfManagedAddons",
            "kubernetesNetworkConfig.ipFamily",
            "kubernetesNetworkConfig.serviceIpv4Cidr",
            "name",
            "outpostConfig.controlPlaneInstanceType",
            "outpostConfig.controlPlanePlacement",
            "roleArn",
        ),
        (
            "computeConfig.nodePools",
            "enabledClusterLogTypes",
            "encryptionConfig.resources",
            "outpostConfig.outpostArns",
            "remoteNetworkConfig.remoteNodeNetworks.cidrs",
            "remoteNetworkConfig.remotePodNetworks.cidrs",
            "vpcConfig.publicAccessCidrs",
            "vpcConfig.securityGroupIds",
            "vpcConfig.subnetIds",
        ),
        replaces_if_removed=("encryptionConfig",),
        replaces_once_set=("computeConfig.nodeRoleArn",),
        later=(
            # Back to AWS's own routing replaces, the other way does not. Both change a mode that was given, so that
            # the way there is taken for a replacement too, unless the mode was left to its default.
            Later(
                ("vpcConfig.controlPlaneEgressMode",),
                "replace once set",
                "https://github.com/hashicorp/terraform-provider-aws/pull/48497",
                "2026-06-20",
            ),
            # Set on a running cluster.
            Later(
                ("kubeSchedulerConfig",),
                "update",
                "https://github.com/terraform-aws-modules/terraform-aws-eks/pull/3741",
                "2026-08-13",
            ),
        ),
        # hashicorp/terraform-provider-aws#49412 brought both, and does not say what a change does.
        unread=("kubeApiServerConfig", "kubeControllerManagerConfig"),
    ),
    "eks.NodeGroup": Upstream(
        "internal/service/eks/node_group.go",
        2025,
        (
            "amiType",
            "capacityType",
            "clusterName",
            "diskSize",
            "instanceTypes",
            "launchTemplate.id",
            "launchTemplate.name",
            "nodeGroupName",
            "nodeGroupNamePrefix",
            "nodeRoleArn",
            "remoteAccess",
            "subnetIds",
        ),
        ("remoteAccess.sourceSecurityGroupIds", "subnetIds", "taints"),
        later=(
            # Optional, and nothing more is said of them; EKS's UpdateNodegroupConfig takes all of them.
            Later(
                (
                    "nodeRepairConfig.maxParallelNodesRepairedCount",
                    "nodeRepairConfig.maxParallelNodesRepairedPercentage",
                    "nodeRepairConfig.maxUnhealthyNodeThresholdCount",
                    "nodeRepairConfig.maxUnhealthyNodeThresholdPercentage",
                    "nodeRepairConfig.nodeRepairConfigOverrides",
                ),
                "update",
                "https://github.com/hashicorp/terraform-provider-aws/pull/44894",
                "2025-10-31",
            ),
            Later(
                ("updateConfig.updateStrategy",),
                "update",
                "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3625",
                "2026-01-13",
            ),
            Later(
                ("warmPoolConfig",),
                "update",
                "https://github.com/hashicorp/terraform-provider-aws/pull/48977",
                "2026-07-16",
            ),
        ),
    ),
    "eks.PodIdentityAssociation": Upstream(
        "internal/service/eks/pod_identity_association.go", 2026, ("clusterName", "namespace", "serviceAccount")
    ),
    "iam.Role": Upstream(
        "internal/service/iam/role.go", 2026, (*_NAME, "path"), ("inlinePolicies", "managedPolicyArns")
    ),
    "iam.RolePolicy": Upstream("internal/service/iam/role_policy.go", 2026, (*_NAME, "role")),
    # Deleted first by Pulumi's own provider/resources.go: making the same attachment and then deleting it leaves none.
    "iam.RolePolicyAttachment": Upstream(
        "internal/service/iam/role_policy_attachment.go", 2026, ("policyArn", "role"), deleted_first=True
    ),
    "kms.Alias": Upstream("internal/service/kms/alias.go", 2024, _NAME),
    "kms.Key": Upstream(
        "internal/service/kms/key.go",
        2024,
        ("customKeyStoreId", "customerMasterKeySpec", "keyUsage", "multiRegion", "xksKeyId"),
    ),
    "vpc.SecurityGroupEgressRule": _RULE,
    "vpc.SecurityGroupIngressRule": _RULE,
}
"""The resources that the offline provider knows, by module and class in ``pulumi_aws``."""


class Row(NamedTuple):
    """One input, in the order of the generated tuples."""

    path: str
    kind: str
    required: bool
    change: str


def rows(resource: str) -> list[Row]:
    """Return the facts about every input of a resource, outer inputs before inner ones.

    Raises
    ------
    UserError
        The table names an input that the installed ``pulumi-aws`` does not have; all of them are listed.
    """
    module, _, name = resource.partition(".")
    known = UPSTREAM[resource]
    declared = inputs(getattr(import_module(f"pulumi_aws.{module}"), f"{name}Args"))
    found = [_row(known, each) for each in declared]
    changing = (known.replaces, known.replaces_if_removed, known.replaces_once_set, known.replaces_as_one, known.unread)
    named = {path for paths in (*changing, known.sets, *(later.inputs for later in known.later)) for path in paths}
    if unknown := sorted(named - {row.path for row in found}):
        raise UserError(f"UPSTREAM names inputs that {resource} does not have: {', '.join(unknown)}")
    return found


def _row(known: Upstream, declared: Declared) -> Row:
    path = declared.path
    change = next((later.change for later in known.later if _within(path, later.inputs)), "update")
    # Of every resource that has one: internal/provider/sdkv2/region.go.
    if path == "region" or _within(path, known.replaces):
        change = "replace"
    elif _within(path, known.unread):
        change = "unread"
    elif path in known.replaces_if_removed:
        change = "replace if removed"
    elif path in known.replaces_once_set:
        change = "replace once set"
    elif path in known.replaces_as_one:
        change = "replace if exchanged"
    return Row(path, "set" if path in known.sets else declared.kind, declared.required, change)


def _within(path: str, outer: Iterable[str]) -> bool:
    return any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in outer)


def token(resource: str) -> str:
    """Return the type token of a resource, such as ``aws:eks/nodeGroup:NodeGroup``."""
    module, _, name = resource.partition(".")
    return str(getattr(import_module(f"pulumi_aws.{module}"), name).pulumi_type)


def generate() -> str:
    """Return the text of the module, as the formatter would leave it."""
    lines = [
        '"""Inputs of the AWS resources that we use. Generated by ``tools/facts/aws.py``; do not edit by hand.',
        "",
        "That script's docstring tells which facts come from which source and which are kept by hand.",
        '"""',
        "",
        "from typing import Final",
        "",
        f'FACTS_DATE: Final = "{READ_ON}"',
        "",
        f'PROVIDER_VERSION: Final = "{version("pulumi-aws")}"',
        '"""Release of ``pulumi-aws`` whose classes were read."""',
        "",
        "DELETED_FIRST: Final = frozenset(",
        "    {",
        *(f'        "{token(name)}",' for name, known in UPSTREAM.items() if known.deleted_first),
        "    }",
        ")",
        '"""Resources of which the old one is deleted before the new one is made, always."""',
        "",
        "RECOMPUTED: Final[dict[str, tuple[str, ...]]] = {",
        *(f'    "{token(name)}": {tuple_of(each.recomputed)},' for name, each in UPSTREAM.items() if each.recomputed),
        "}",
        '"""Outputs that any update in place makes unknown again, by type."""',
        "",
        "SOURCES: Final[dict[str, tuple[str, int]]] = {",
        *(wrapped(f'    "{token(name)}": (', f'"{k.file}"', str(k.copy_of)) for name, k in UPSTREAM.items()),
        "}",
        '"""File of the upstream provider by type, and the year of the copy that was read."""',
        "",
        "LATER: Final[dict[str, tuple[tuple[str, str, str], ...]]] = {",
        *(line for name, known in UPSTREAM.items() if known.later for line in _later(name, known.later)),
        "}",
        '"""Inputs younger than the copy, by type: which, where it is said what a change does, and when."""',
        "",
        "FACTS: Final[dict[str, tuple[tuple[str, str, bool, str], ...]]] = {",
        "    # input, kind, required, what a change does",
    ]
    for name in UPSTREAM:
        lines += [f'    "{token(name)}": (', *map(_line, rows(name)), "    ),"]
    return "\n".join([*lines, "}", ""])


def _later(name: str, found: tuple[Later, ...]) -> Iterator[str]:
    yield f'    "{token(name)}": ('
    for later in found:
        yield from (wrapped("        (", *map(json.dumps, (path, later.source, later.date))) for path in later.inputs)
    yield "    ),"


def _line(row: Row) -> str:
    return wrapped("        (", f'"{row.path}"', f'"{row.kind}"', str(row.required), f'"{row.change}"')


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    return sdk_inputs.main("tools.facts.aws", __doc__ or "", TARGET, generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
