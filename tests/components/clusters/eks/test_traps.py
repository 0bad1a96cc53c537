"""Every trap of EKS and its autoscaler that a naive program falls into: ours avoids it, and the test would notice.

Traps that validation answers have their bad stack files in ``tests/infra/cases``; docs/eks.md lists all, also those
that cannot be checked without an account.
"""

import json
from collections.abc import Callable
from copy import deepcopy

import pytest

from components.contract.eks.autoscaling import ACCELERATOR_LABEL
from support import eks_traps as traps
from support.eks import ADDON, CLUSTER, LAUNCH_TEMPLATE, NODE_GROUP, TAG, built
from support.eks_traps import DEPLOYMENT, STORAGE_CLASS, SUBNET, Props
from support.minors import OLDER
from support.recorder import Recorder
from support.traps import Trap, drop, edit, option


def tag(group: str, key: str, value: str) -> Callable[[Recorder], None]:
    return edit(TAG, f"{group}/k8s.io/cluster-autoscaler/node-template/{key}", lambda t: t["tag"].update(value=value))


def policy_of_autoscaler(change: Callable[[list[Props]], object]) -> Callable[[Recorder], None]:
    def apply(props: Props) -> None:
        document = json.loads(props["policy"])
        change(document["Statement"])
        props["policy"] = json.dumps(document)

    return edit("aws:iam/rolePolicy:RolePolicy", "test-own-autoscaler", apply)


def autoscaler_container(change: Callable[[Props], object]) -> Callable[[Recorder], None]:
    return edit(DEPLOYMENT, "test-own-autoscaler", lambda d: change(d["spec"]["template"]["spec"]["containers"][0]))


SPOT_TAINT_TAG = "taint/app.iguazio.com/lifecycle"
TRAPS = {
    "01-taint-effects-are-spelt-for-their-reader": Trap(
        traps.spelling_of_taints,
        (
            tag("test-spot", SPOT_TAINT_TAG, "preemptible:NO_SCHEDULE"),
            tag("test-spot", SPOT_TAINT_TAG, "preemptible"),
            edit(NODE_GROUP, "test-spot", lambda g: g["taints"][0].update(effect="NoSchedule")),
        ),
    ),
    "02-every-taint-has-a-value": Trap(
        traps.taints_have_values, (edit(NODE_GROUP, "test-gpu", lambda g: g["taints"][0].pop("value")),)
    ),
    "03-tags-are-on-the-auto-scaling-group-itself": Trap(
        traps.labels_reach_the_autoscaler,
        (
            drop(TAG, "test-spot/k8s.io/cluster-autoscaler/node-template/label/igz-clusters.io/pool"),
            tag("test-workload", "label/igz-clusters.io/user-workloads", "false"),
            edit(NODE_GROUP, "test-arm", lambda g: g["labels"].update(new="label")),
        ),
    ),
    "04-the-look-at-the-managed-group-is-a-fallback-only": Trap(
        traps.labels_do_not_depend_on_a_look_at_the_group,
        (
            policy_of_autoscaler(lambda s: s[0]["Action"].remove("eks:DescribeNodegroup")),
            drop(TAG, "test-gpu/k8s.io/cluster-autoscaler/node-template/label/igz-clusters.io/role"),
        ),
    ),
    "05-an-auto-scaling-group-has-50-tags": Trap(
        traps.few_enough_tags,
        (
            lambda r: r.resources.extend(
                type(r.resources[0])(
                    TAG, f"x{i}", {"autoscalingGroupName": "test-spot-asg", "tag": {"key": f"k{i}", "value": ""}}, ""
                )
                for i in range(45)
            ),
        ),
    ),
    "06-gpus-are-known-from-zero": Trap(
        traps.gpus_from_zero,
        (
            tag("test-gpu", "resources/nvidia.com/gpu", "1"),
            drop(TAG, "test-gpu/k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu"),
            edit(NODE_GROUP, "test-gpu", lambda g: g["labels"].pop(ACCELERATOR_LABEL)),
        ),
    ),
    "07-types-of-a-group-have-one-shape-and-one-image": Trap(
        traps.one_shape,
        (
            edit(NODE_GROUP, "test-spot", lambda g: g["instanceTypes"].append("m6i.4xlarge")),
            edit(NODE_GROUP, "test-arm", lambda g: g.update(amiType="AL2023_x86_64_STANDARD")),
            edit(NODE_GROUP, "test-gpu", lambda g: g.update(amiType="AL2023_x86_64_STANDARD")),
        ),
    ),
    "08-spot-types-are-several-and-stand-in-the-group": Trap(
        traps.types_stand_in_the_group,
        (
            edit(NODE_GROUP, "test-spot", lambda g: g.update(instanceTypes=["m6i.2xlarge"])),
            edit(NODE_GROUP, "test-gpu", lambda g: g.update(instanceTypes=["g5.12xlarge"] * 21)),
            edit(LAUNCH_TEMPLATE, "test-spot", lambda t: t.update(instanceType="m6i.2xlarge")),
        ),
    ),
    "09-a-replacement-exists-before-the-old-group-goes": Trap(
        traps.replaced_before_deleted,
        (
            edit(NODE_GROUP, "test-workload", lambda g: g.update(nodeGroupName="workload")),
            option(NODE_GROUP, "test-workload", delete_before_replace=True),
        ),
    ),
    "10-a-launch-template-says-nothing-that-eks-says": Trap(
        traps.templates_leave_the_rest_to_eks,
        (
            edit(LAUNCH_TEMPLATE, "test-workload", lambda t: t.update(vpcSecurityGroupIds=["sg-1"])),
            edit(LAUNCH_TEMPLATE, "test-workload", lambda t: t.update(iamInstanceProfile={"name": "x"})),
            edit(NODE_GROUP, "test-workload", lambda g: g.update(diskSize=50)),
            edit(NODE_GROUP, "test-workload", lambda g: g.pop("launchTemplate")),
        ),
    ),
    "11-pods-cannot-reach-the-metadata-of-their-node": Trap(
        traps.metadata_is_the_nodes_own,
        (
            edit(LAUNCH_TEMPLATE, "test-gpu", lambda t: t["metadataOptions"].update(httpPutResponseHopLimit=2)),
            edit(LAUNCH_TEMPLATE, "test-gpu", lambda t: t["metadataOptions"].update(httpTokens="optional")),
            edit(ADDON, "test-node-addons-vpc-cni", lambda a: a.pop("podIdentityAssociations")),
        ),
    ),
    "12-no-label-is-under-a-reserved-prefix": Trap(
        traps.labels_are_allowed,
        (
            edit(NODE_GROUP, "test-spot", lambda g: g["labels"].update({"node.kubernetes.io/lifecycle": "spot"})),
            edit(NODE_GROUP, "test-spot", lambda g: g["labels"].update({"eks.amazonaws.com/x": "y"})),
        ),
    ),
    "13-the-desired-size-is-the-autoscalers-where-it-scales-and-ours-elsewhere": Trap(
        traps.the_autoscaler_owns_elastic_sizes_only,
        (
            option(NODE_GROUP, "test-initial", ignore_changes=("scalingConfig.desiredSize",)),
            option(NODE_GROUP, "test-workload", ignore_changes=()),
            option(NODE_GROUP, "test-workload", ignore_changes=("scaling_config.desired_size",)),
            edit(NODE_GROUP, "test-workload", lambda g: g["scalingConfig"].update(desiredSize=0)),
        ),
    ),
    "14-an-update-has-exactly-one-bound": Trap(
        traps.one_bound_of_an_update,
        (
            edit(NODE_GROUP, "test-initial", lambda g: g["updateConfig"].update(maxUnavailablePercentage=33)),
            edit(NODE_GROUP, "test-initial", lambda g: g["updateConfig"].update(maxUnavailable=4)),
        ),
    ),
    "15-volumes-are-zonal": Trap(
        traps.zonal_pools_have_a_group_a_zone,
        (
            edit(NODE_GROUP, "test-jupyter-a", lambda g: g["subnetIds"].append("another")),
            autoscaler_container(lambda c: c["command"].remove("--balance-similar-node-groups=true")),
            autoscaler_container(lambda c: c["command"].remove("--balancing-label=igz-clusters.io/pool")),
        ),
    ),
    "16-add-ons-that-are-pods-wait-for-nodes-and-the-others-do-not": Trap(
        traps.addons_come_in_order,
        (
            drop(ADDON, "test-node-addons-eks-pod-identity-agent"),
            option(NODE_GROUP, "test-initial", dependencies=(), parent=""),
            option(ADDON, "test-addons-coredns", dependencies=(), parent=""),
            edit(
                NODE_GROUP,
                "test-initial",
                lambda g: g["taints"].append({"key": "a", "value": "b", "effect": "NO_SCHEDULE"}),
            ),
        ),
    ),
    "17-nodes-never-need-the-public-endpoint": Trap(
        traps.nodes_reach_the_api,
        (
            edit(CLUSTER, "test-cluster", lambda c: c["vpcConfig"].update(endpointPrivateAccess=False)),
            edit(CLUSTER, "test-cluster", lambda c: c["vpcConfig"].update(endpointPublicAccess=True)),
            edit("aws:ec2/vpc:Vpc", "test-network-vpc", lambda v: v.update(enableDnsHostnames=False)),
        ),
    ),
    "18-subnets-are-in-several-zones-and-marked-for-load-balancers": Trap(
        traps.subnets_are_marked_and_enough,
        (
            edit(SUBNET, "test-network-private-a", lambda s: s["tags"].pop("kubernetes.io/role/internal-elb")),
            edit(SUBNET, "test-network-public-a", lambda s: s["tags"].pop("kubernetes.io/role/elb")),
            edit(SUBNET, "test-network-public-a", lambda s: s.update(cidrBlock="10.20.192.0/29")),
            lambda r: [s.update(availabilityZone="eu-west-1a") for s in r.of_type(SUBNET).values()],
            edit(
                "aws:ec2/securityGroup:SecurityGroup",
                "test-network-endpoints",
                lambda g: g["tags"].update({"kubernetes.io/cluster/research": "owned"}),
            ),
        ),
    ),
    "19-secrets-are-encrypted-with-a-rotating-symmetric-key": Trap(
        traps.secrets_have_a_key_of_their_own,
        (
            edit(CLUSTER, "test-cluster", lambda c: c.pop("encryptionConfig")),
            edit("aws:kms/key:Key", "test-cluster-secrets", lambda k: k.update(enableKeyRotation=False)),
            edit("aws:kms/key:Key", "test-cluster-secrets", lambda k: k.update(customerMasterKeySpec="RSA_2048")),
        ),
    ),
    "20-entries-differ-and-outlive-the-objects-in-the-cluster": Trap(
        traps.entries_outlive_what_they_open,
        (
            edit(
                CLUSTER,
                "test-cluster",
                lambda c: c["accessConfig"].update(bootstrapClusterCreatorAdminPermissions=True),
            ),
            edit(
                "aws:eks/accessEntry:AccessEntry",
                "test-cluster-111122223333/break-glass",
                lambda e: e.update(principalArn="arn:aws:iam::111122223333:role/deployer"),
            ),
            option("kubernetes:scheduling.k8s.io/v1:PriorityClass", "igz-workload-low", parent="", dependencies=()),
        ),
    ),
    "22-what-a-node-needs-goes-after-the-node": Trap(
        traps.network_outlives_the_nodes, (option(NODE_GROUP, "test-spot", dependencies=(), parent=""),)
    ),
    "23-there-is-one-default-class-of-the-csi-driver": Trap(
        traps.one_modern_default_class,
        (
            edit(STORAGE_CLASS, "gp3", lambda c: c.update(provisioner="kubernetes.io/aws-ebs")),
            edit(STORAGE_CLASS, "gp3", lambda c: c["parameters"].update(encrypted="false")),
            edit(STORAGE_CLASS, "gp3", lambda c: c.update(volumeBindingMode="Immediate")),
            edit(STORAGE_CLASS, "gp3", lambda c: c["metadata"]["annotations"].clear()),
        ),
    ),
    "24-the-autoscaler-is-of-the-clusters-minor-and-touches-traps.elastic-groups-only": Trap(
        traps.autoscaler_is_of_this_cluster,
        (
            edit(CLUSTER, "test-cluster", lambda c: c.update(version=OLDER)),
            policy_of_autoscaler(lambda s: s[1].pop("Condition")),
            autoscaler_container(
                lambda c: c["command"].__setitem__(
                    slice(None),
                    [
                        "--node-group-auto-discovery=asg:tag=k8s.io/cluster-autoscaler/enabled"
                        if "auto-discovery" in flag
                        else flag
                        for flag in c["command"]
                    ],
                )
            ),
        ),
    ),
}
BREAKS = [(name, index) for name, trap in TRAPS.items() for index in range(len(trap.breaks))]


@pytest.mark.parametrize("environment", ["dev", "prod"])
@pytest.mark.parametrize("name", TRAPS)
def test_our_program_avoids_the_trap(name: str, environment: str) -> None:
    assert list(TRAPS[name].check(built(environment))) == []


@pytest.mark.parametrize(("name", "index"), BREAKS)
def test_a_program_in_the_trap_is_noticed(name: str, index: int) -> None:
    broken = deepcopy(built("prod"))
    TRAPS[name].breaks[index](broken)
    assert list(TRAPS[name].check(broken)) != []
