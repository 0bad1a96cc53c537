"""Traps of EKS and its autoscaler, each as a check over everything that a program declares.

A check yields what is wrong, and nothing for a program that avoids the trap. The numbers and the breakages that each
check must notice stand in ``tests/components/clusters/eks/test_traps.py``.
"""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from components.contract.autoscaler import BALANCING_LABELS
from components.contract.aws import OwnTag
from components.contract.eks.autoscaling import ACCELERATOR_LABEL
from components.contract.instances import INSTANCE_TYPES
from support.autoscaler import is_discovered, node_template
from support.eks import ADDON, CLUSTER, LAUNCH_TEMPLATE, NODE_GROUP, TAG
from support.recorder import Recorder

Props = dict[str, Any]
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
SUBNET = "aws:ec2/subnet:Subnet"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"


def elastic(recorder: Recorder) -> dict[str, Props]:
    groups = recorder.of_type(NODE_GROUP)
    return {n: g for n, g in groups.items() if g["scalingConfig"]["minSize"] < g["scalingConfig"]["maxSize"]}


def asg_tags(recorder: Recorder, group: str) -> dict[str, str]:
    tags = recorder.of_type(TAG).values()
    return {t["tag"]["key"]: t["tag"]["value"] for t in tags if t["autoscalingGroupName"] == f"{group}-asg"}


def spelling_of_taints(recorder: Recorder) -> Iterator[str]:
    for name, group in elastic(recorder).items():
        seen = {(t.key, t.value, t.effect) for t in node_template(asg_tags(recorder, name)).taints}
        effects = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
        wanted = {(t["key"], t["value"], effects.get(t["effect"])) for t in group["taints"]}
        if seen != wanted:
            yield f"{name}: the autoscaler sees {seen}, nodes have {wanted}"


def taints_have_values(recorder: Recorder) -> Iterator[str]:
    for name, group in recorder.of_type(NODE_GROUP).items():
        yield from (f"{name}: {taint}" for taint in group["taints"] if not taint.get("value"))


def labels_reach_the_autoscaler(recorder: Recorder) -> Iterator[str]:
    for name, group in elastic(recorder).items():
        if node_template(asg_tags(recorder, name)).labels != group["labels"]:
            yield name


def labels_do_not_depend_on_a_look_at_the_group(recorder: Recorder) -> Iterator[str]:
    statements = json.loads(recorder.of_type("aws:iam/rolePolicy:RolePolicy")["test-own-autoscaler"]["policy"])
    if "eks:DescribeNodegroup" not in statements["Statement"][0]["Action"]:
        yield "the fallback is not allowed"
    yield from labels_reach_the_autoscaler(recorder)


def few_enough_tags(recorder: Recorder) -> Iterator[str]:
    for name in recorder.of_type(NODE_GROUP):
        if len(asg_tags(recorder, name)) > 45:
            yield name


def gpus_from_zero(recorder: Recorder) -> Iterator[str]:
    for name, group in elastic(recorder).items():
        gpus = INSTANCE_TYPES[group["instanceTypes"][0]].gpus
        template = node_template(asg_tags(recorder, name))
        if gpus and template.resources.get("nvidia.com/gpu") != str(gpus):
            yield f"{name}: {template.resources}"
        if gpus and not (template.labels.get(ACCELERATOR_LABEL) and group["labels"].get(ACCELERATOR_LABEL)):
            yield f"{name}: no accelerator label"


def one_shape(recorder: Recorder) -> Iterator[str]:
    for name, group in recorder.of_type(NODE_GROUP).items():
        if len({INSTANCE_TYPES[t].shape for t in group["instanceTypes"]}) != 1:
            yield name
        nvidia = any(INSTANCE_TYPES[t].gpus for t in group["instanceTypes"])
        arm = INSTANCE_TYPES[group["instanceTypes"][0]].architecture == "arm64"
        if group["amiType"] != f"AL2023_{'ARM_64' if arm else 'x86_64'}_{'NVIDIA' if nvidia else 'STANDARD'}":
            yield f"{name}: {group['amiType']}"


def types_stand_in_the_group(recorder: Recorder) -> Iterator[str]:
    for name, group in recorder.of_type(NODE_GROUP).items():
        if not 1 <= len(group["instanceTypes"]) <= 20 or "instanceType" in recorder.of_type(LAUNCH_TEMPLATE)[name]:
            yield name
        if group["capacityType"] == "SPOT" and len(group["instanceTypes"]) < 3:
            yield f"{name}: {group['instanceTypes']}"


def replaced_before_deleted(recorder: Recorder) -> Iterator[str]:
    for name, group in recorder.of_type(NODE_GROUP).items():
        if "nodeGroupName" in group or recorder.options[NODE_GROUP, name].delete_before_replace:
            yield name


TEMPLATE_MAY_NOT_SAY = {
    *("iamInstanceProfile", "imageId", "instanceInitiatedShutdownBehavior", "instanceMarketOptions"),
    *("hibernationOptions", "networkInterfaces", "securityGroupNames", "userData", "vpcSecurityGroupIds", "keyName"),
}


def templates_leave_the_rest_to_eks(recorder: Recorder) -> Iterator[str]:
    for name, template in recorder.of_type(LAUNCH_TEMPLATE).items():
        yield from (f"{name}: {key}" for key in TEMPLATE_MAY_NOT_SAY & set(template))
    for name, group in recorder.of_type(NODE_GROUP).items():
        if not group.get("launchTemplate") or {"diskSize", "remoteAccess"} & set(group):
            yield name


def metadata_is_the_nodes_own(recorder: Recorder) -> Iterator[str]:
    for name, template in recorder.of_type(LAUNCH_TEMPLATE).items():
        options = template["metadataOptions"]
        if (options["httpTokens"], options["httpPutResponseHopLimit"]) != ("required", 1):
            yield name
    associations = chain.from_iterable(a.get("podIdentityAssociations", []) for a in recorder.of_type(ADDON).values())
    accounts = {a["serviceAccount"] for a in associations}
    own = recorder.of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation")
    accounts |= {a["serviceAccount"] for a in own.values()}
    if missing := {"aws-node", "ebs-csi-controller-sa", "cluster-autoscaler"} - accounts:
        yield f"without a role of their own: {missing}"


def labels_are_allowed(recorder: Recorder) -> Iterator[str]:
    for name, group in recorder.of_type(NODE_GROUP).items():
        for key in group["labels"]:
            prefix = key.partition("/")[0]
            if any(prefix == p or prefix.endswith(f".{p}") for p in ("kubernetes.io", "k8s.io", "eks.amazonaws.com")):
                yield f"{name}: {key}"


def the_autoscaler_owns_elastic_sizes_only(recorder: Recorder) -> Iterator[str]:
    for name in recorder.of_type(NODE_GROUP):
        ignored = "scalingConfig.desiredSize" in recorder.options[NODE_GROUP, name].ignore_changes
        if ignored != (name in elastic(recorder)):
            yield name
        sizes = recorder.of_type(NODE_GROUP)[name]["scalingConfig"]
        if not sizes["minSize"] <= sizes["desiredSize"] <= sizes["maxSize"] or sizes["maxSize"] < 1:
            yield f"{name}: {sizes}"


def one_bound_of_an_update(recorder: Recorder) -> Iterator[str]:
    for name, group in recorder.of_type(NODE_GROUP).items():
        config = group["updateConfig"]
        if (
            len(config.keys() - {"updateStrategy"}) != 1
            or config.get("maxUnavailable", 1) > group["scalingConfig"]["maxSize"]
        ):
            yield name


def container_of_autoscaler(recorder: Recorder) -> Props:
    deployment = recorder.of_type(DEPLOYMENT)["test-own-autoscaler"]
    container: Props = deployment["spec"]["template"]["spec"]["containers"][0]
    return container


def zonal_pools_have_a_group_a_zone(recorder: Recorder) -> Iterator[str]:
    for name, group in recorder.of_type(NODE_GROUP).items():
        if group["labels"]["igz-clusters.io/role"] in ("jupyter", "data") and len(group["subnetIds"]) != 1:
            yield name
    command = recorder.of_type(DEPLOYMENT)["test-own-autoscaler"]["spec"]["template"]["spec"]["containers"][0][
        "command"
    ]
    for flag in ("--balance-similar-node-groups=true", *(f"--balancing-label={label}" for label in BALANCING_LABELS)):
        if flag not in command:
            yield flag


def addons_come_in_order(recorder: Recorder) -> Iterator[str]:
    addons = {props["addonName"]: name for name, props in recorder.of_type(ADDON).items()}
    groups = recorder.of_type(NODE_GROUP)
    for addon in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
        late = [g for g in groups if (ADDON, addons.get(addon)) not in recorder.needs((NODE_GROUP, g))]
        yield from (f"{addon} is not there before {g}" for g in late)
    for addon in ("coredns", "aws-ebs-csi-driver", "metrics-server"):
        if (NODE_GROUP, "test-initial") not in recorder.needs((ADDON, addons.get(addon, ""))):
            yield f"{addon} does not wait for a node"
    if any(g["taints"] for g in groups.values() if g["labels"]["igz-clusters.io/role"] == "initial"):
        yield "nothing without tolerations finds a node"


def nodes_reach_the_api(recorder: Recorder) -> Iterator[str]:
    config = recorder.of_type(CLUSTER)["test-cluster"]["vpcConfig"]
    if not config["endpointPrivateAccess"]:
        yield "no private endpoint"
    if config["endpointPublicAccess"] and not config.get("publicAccessCidrs"):
        yield "no ranges is the world"
    vpc = recorder.of_type("aws:ec2/vpc:Vpc")["test-network-vpc"]
    if not (vpc["enableDnsSupport"] and vpc["enableDnsHostnames"]):
        yield "the private name does not resolve"


def subnets_are_marked_and_enough(recorder: Recorder) -> Iterator[str]:
    subnets = recorder.of_type(SUBNET)
    for name, subnet in subnets.items():
        role = "kubernetes.io/role/elb" if "-public-" in name else "kubernetes.io/role/internal-elb"
        if subnet["tags"].get(role) != "1":
            yield f"{name}: load balancers do not find it"
        if int(subnet["cidrBlock"].partition("/")[2]) > 28:
            yield f"{name}: too small"
    if len({s["availabilityZone"] for s in subnets.values()}) < 2:
        yield "one zone"
    for name, group in recorder.of_type("aws:ec2/securityGroup:SecurityGroup").items():
        if any(key.startswith("kubernetes.io/cluster/") for key in group.get("tags", {})):
            yield f"{name}: a second group of the cluster on a node breaks its load balancers"


def secrets_have_a_key_of_their_own(recorder: Recorder) -> Iterator[str]:
    encryption = recorder.of_type(CLUSTER)["test-cluster"].get("encryptionConfig", {})
    keys = recorder.of_type("aws:kms/key:Key")
    if encryption.get("resources") != ["secrets"] or not encryption["provider"]["keyArn"].endswith(
        "test-cluster-secrets"
    ):
        yield "secrets are not encrypted with it"
    for name, key in keys.items():
        if not key["enableKeyRotation"] or key.get("customerMasterKeySpec") or key.get("keyUsage"):
            yield name


def entries_outlive_what_they_open(recorder: Recorder) -> Iterator[str]:
    access = recorder.of_type(CLUSTER)["test-cluster"]["accessConfig"]
    if access != {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False}:
        yield "the creator is admin, or the old map is on"
    principals = [e["principalArn"] for e in recorder.of_type("aws:eks/accessEntry:AccessEntry").values()]
    if len(principals) != len(set(principals)):
        yield "two entries of one principal"
    deployer = ("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", "test-cluster-111122223333/deployer")
    for resource in recorder.resources:
        if resource.type.startswith("kubernetes:") and deployer not in recorder.needs((resource.type, resource.name)):
            yield f"{resource.name} cannot be deleted once the entry is gone"


def network_outlives_the_nodes(recorder: Recorder) -> Iterator[str]:
    for name in recorder.of_type(NODE_GROUP):
        needs = recorder.needs((NODE_GROUP, name))
        if (ADDON, "test-node-addons-vpc-cni") not in needs:
            yield f"{name}: the network plug-in goes before the nodes whose interfaces it must free"
        ways = {"aws:ec2/route:Route", "aws:ec2/routeTableAssociation:RouteTableAssociation", ENDPOINT}
        if missing := ways - {kind for kind, _ in needs}:
            yield f"{name}: starts before it can reach AWS, without {missing}"


def one_modern_default_class(recorder: Recorder) -> Iterator[str]:
    default = "storageclass.kubernetes.io/is-default-class"
    classes = recorder.of_type(STORAGE_CLASS)
    if [c["metadata"]["annotations"].get(default) for c in classes.values()] != ["true"]:
        yield "not exactly one default"
    for name, cls in classes.items():
        if cls["provisioner"] != "ebs.csi.aws.com" or cls["parameters"] != {"type": "gp3", "encrypted": "true"}:
            yield name
        if cls["volumeBindingMode"] != "WaitForFirstConsumer":
            yield f"{name}: a volume may lie where no pod can go"


def autoscaler_is_of_this_cluster(recorder: Recorder) -> Iterator[str]:
    cluster = recorder.of_type(CLUSTER)["test-cluster"]
    container = container_of_autoscaler(recorder)
    if f":v{cluster['version']}." not in container["image"]:
        yield container["image"]
    statements = json.loads(recorder.of_type("aws:iam/rolePolicy:RolePolicy")["test-own-autoscaler"]["policy"])
    for statement in statements["Statement"]:
        writes = [a for a in statement["Action"] if not a.partition(":")[2].startswith(("Describe", "Get"))]
        bound = statement.get("Condition", {}).get("StringEquals", {}).get(f"aws:ResourceTag/{OwnTag.AUTOSCALER}")
        if writes and bound != cluster["name"]:
            yield f"unbound: {writes}"
    discovery = next(c for c in container["command"] if c.startswith("--node-group-auto-discovery="))
    for name in recorder.of_type(NODE_GROUP):
        if is_discovered(discovery, asg_tags(recorder, name)) != (name in elastic(recorder)):
            yield f"{name}: {discovery}"
