"""A small EKS cluster in plain pulumi-aws, with one resource of most types that a real one needs."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from components.contract.priorities import SystemPriority, UserPriority

ZONES = ("a", "b")
REGION = "eu-west-1"
CLUSTER = "sample"


def program() -> None:
    provider = aws.Provider("aws", region=REGION, default_tags=aws.ProviderDefaultTagsArgs(tags={"team": "sample"}))
    pulumi.runtime.register_resource_transform(
        lambda args: (
            pulumi.ResourceTransformResult(
                args.props, pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(provider=provider))
            )
            if args.type_.startswith("aws:")
            else None
        )
    )
    subnets = network()
    cluster = control_plane(subnets)
    groups = [
        node_group("initial", cluster, subnets, role="initial", size=(2, 2, 2)),
        node_group("spot", cluster, subnets, role="workload", size=(0, 10, 0), spot=True),
        node_group("data", cluster, subnets, role="data", size=(3, 3, 3), protect=True),
    ]
    addons(cluster, groups)
    inside(cluster)


def network() -> list[aws.ec2.Subnet]:
    vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", enable_dns_support=True, enable_dns_hostnames=True)
    aws.ec2.DefaultSecurityGroup("default", vpc_id=vpc.id, ingress=[], egress=[])
    gateway = aws.ec2.InternetGateway("internet", vpc_id=vpc.id)
    table = aws.ec2.RouteTable("private", vpc_id=vpc.id)
    subnets = [
        aws.ec2.Subnet(
            f"private-{zone}",
            vpc_id=vpc.id,
            availability_zone=f"{REGION}{zone}",
            cidr_block=f"10.0.{index}.0/24",
            tags={"kubernetes.io/role/internal-elb": "1"},
        )
        for index, zone in enumerate(ZONES)
    ]
    for zone, subnet in zip(ZONES, subnets, strict=True):
        aws.ec2.RouteTableAssociation(f"private-{zone}", route_table_id=table.id, subnet_id=subnet.id)
    address = aws.ec2.Eip("nat", domain="vpc")
    nat = aws.ec2.NatGateway(
        "nat", allocation_id=address.id, subnet_id=subnets[0].id, opts=pulumi.ResourceOptions(depends_on=[gateway])
    )
    aws.ec2.Route("out", route_table_id=table.id, destination_cidr_block="0.0.0.0/0", nat_gateway_id=nat.id)
    aws.ec2.VpcEndpoint(
        "s3",
        vpc_id=vpc.id,
        service_name=f"com.amazonaws.{REGION}.s3",
        vpc_endpoint_type="Gateway",
        route_table_ids=[table.id],
    )
    group = aws.ec2.SecurityGroup("endpoints", vpc_id=vpc.id, description="Endpoints")
    aws.vpc.SecurityGroupIngressRule(
        "endpoints", security_group_id=group.id, ip_protocol="tcp", from_port=443, to_port=443, cidr_ipv4="10.0.0.0/16"
    )
    logs = aws.cloudwatch.LogGroup("flow", retention_in_days=30)
    aws.ec2.FlowLog(
        "flow",
        vpc_id=vpc.id,
        traffic_type="ALL",
        log_destination=logs.arn,
        iam_role_arn=role("flow", "vpc-flow-logs.amazonaws.com").arn,
    )
    return subnets


def role(name: str, service: str) -> aws.iam.Role:
    trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return aws.iam.Role(name, assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [trust]}))


def control_plane(subnets: list[aws.ec2.Subnet]) -> aws.eks.Cluster:
    key = aws.kms.Key("secrets", enable_key_rotation=True, deletion_window_in_days=30)
    aws.kms.Alias("secrets", name=f"alias/eks/{CLUSTER}", target_key_id=key.key_id)
    assumed = role("cluster", "eks.amazonaws.com")
    aws.iam.RolePolicyAttachment(
        "cluster", role=assumed.name, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    )
    aws.iam.RolePolicy("cluster", role=assumed.name, policy=json.dumps({"Version": "2012-10-17", "Statement": []}))
    cluster = aws.eks.Cluster(
        "cluster",
        name=CLUSTER,
        role_arn=assumed.arn,
        version="1.33",
        vpc_config=aws.eks.ClusterVpcConfigArgs(
            subnet_ids=[subnet.id for subnet in subnets], endpoint_private_access=True, endpoint_public_access=False
        ),
        encryption_config=aws.eks.ClusterEncryptionConfigArgs(
            resources=["secrets"], provider=aws.eks.ClusterEncryptionConfigProviderArgs(key_arn=key.arn)
        ),
        enabled_cluster_log_types=["api", "audit"],
        access_config=aws.eks.ClusterAccessConfigArgs(
            authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
        ),
        bootstrap_self_managed_addons=False,
        opts=pulumi.ResourceOptions(protect=True),
    )
    principal = "arn:aws:iam::111122223333:role/admin"
    entry = aws.eks.AccessEntry("admin", cluster_name=cluster.name, principal_arn=principal)
    aws.eks.AccessPolicyAssociation(
        "admin",
        cluster_name=cluster.name,
        principal_arn=principal,
        policy_arn="arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
        access_scope=aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
        opts=pulumi.ResourceOptions(depends_on=[entry]),
    )
    return cluster


def node_group(
    name: str,
    cluster: aws.eks.Cluster,
    subnets: list[aws.ec2.Subnet],
    *,
    role: str,
    size: tuple[int, int, int],
    spot: bool = False,
    protect: bool = False,
) -> aws.eks.NodeGroup:
    template = aws.ec2.LaunchTemplate(
        name,
        update_default_version=True,
        metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(http_tokens="required"),
        block_device_mappings=[
            aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
                device_name="/dev/xvda",
                ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                    volume_size=100, volume_type="gp3", encrypted="true"
                ),
            )
        ],
        tag_specifications=[aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type="instance", tags={"pool": name})],
    )
    lifecycle = "preemptible" if spot else "non-preemptible"
    minimum, maximum, desired = size
    group = aws.eks.NodeGroup(
        name,
        cluster_name=cluster.name,
        node_role_arn="arn:aws:iam::111122223333:role/node",
        subnet_ids=[subnet.id for subnet in subnets],
        capacity_type="SPOT" if spot else "ON_DEMAND",
        ami_type="AL2023_x86_64_STANDARD",
        instance_types=["m6i.2xlarge", "m5.2xlarge"] if spot else ["m6i.2xlarge"],
        scaling_config=aws.eks.NodeGroupScalingConfigArgs(min_size=minimum, max_size=maximum, desired_size=desired),
        update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
        launch_template=aws.eks.NodeGroupLaunchTemplateArgs(id=template.id, version=template.latest_version.apply(str)),
        labels={"app.iguazio.com/lifecycle": lifecycle, "igz-clusters.io/role": role, "igz-clusters.io/pool": name},
        taints=[aws.eks.NodeGroupTaintArgs(key="app.iguazio.com/lifecycle", value="preemptible", effect="NO_SCHEDULE")]
        if spot
        else None,
        opts=pulumi.ResourceOptions(
            protect=protect, ignore_changes=["scalingConfig.desiredSize"] if minimum < maximum else None
        ),
    )
    aws.autoscaling.Tag(
        name,
        autoscaling_group_name=group.resources.apply(lambda found: found[0].autoscaling_groups[0].name),
        tag=aws.autoscaling.TagTagArgs(key="pool", value=name, propagate_at_launch=False),
    )
    return group


def addons(cluster: aws.eks.Cluster, groups: list[aws.eks.NodeGroup]) -> None:
    aws.eks.Addon(
        "coredns",
        cluster_name=cluster.name,
        addon_name="coredns",
        resolve_conflicts_on_create="OVERWRITE",
        opts=pulumi.ResourceOptions(depends_on=groups),
    )
    aws.eks.PodIdentityAssociation(
        "autoscaler",
        cluster_name=cluster.name,
        namespace="kube-system",
        service_account="cluster-autoscaler",
        role_arn="arn:aws:iam::111122223333:role/autoscaler",
    )


def inside(cluster: aws.eks.Cluster) -> None:
    def kubeconfig(known: list[Any]) -> str:
        server = {"server": known[0], "certificate-authority-data": known[1]}
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": CLUSTER, "cluster": server}],
                "users": [{"name": CLUSTER, "user": {}}],
                "contexts": [{"name": CLUSTER, "context": {"cluster": CLUSTER, "user": CLUSTER}}],
                "current-context": CLUSTER,
            }
        )

    authority = cluster.certificate_authority.data
    provider = kubernetes.Provider(
        "inside",
        kubeconfig=pulumi.Output.all(cluster.endpoint, authority).apply(kubeconfig),
        cluster_identifier=CLUSTER,
    )
    for priority in [*UserPriority, *SystemPriority]:
        kubernetes.scheduling.v1.PriorityClass(
            priority.value,
            metadata=kubernetes.meta.v1.ObjectMetaArgs(name=priority.value),
            value=priority.priority,
            preemption_policy="Never" if priority in list(UserPriority) else None,
            opts=pulumi.ResourceOptions(provider=provider),
        )
