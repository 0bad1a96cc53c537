"""Managed node groups: made, read, listed, deleted, each with an Auto Scaling group."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from components.contract.eks.checks import GROUPS_MAX
from emulators.aws.server import autoscaling
from emulators.aws.server.autoscaling import GroupArgs, Size
from emulators.aws.server.eks import account, node_group_checks, versions
from emulators.aws.server.eks.access import admit_nodes, dismiss_nodes
from emulators.aws.server.eks.clusters import check_offered
from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.refusals import in_use, invalid_parameter, invalid_request, over_quota
from emulators.aws.server.eks.store import (
    Cluster,
    Request,
    Resource,
    Store,
    arn,
    issue_members,
    new_id,
    now,
)
from emulators.core.fault_outcome import HealthIssue

DEFAULT_SIZE: Final = Size(1, 2, 2)
DEFAULT_AMI_TYPE: Final = "AL2023_x86_64_STANDARD"
DEFAULT_INSTANCE_TYPES: Final = ("t3.medium",)
DEFAULT_DISK_GIB: Final = 20
"""What EKS takes where a request says nothing: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html."""

_NO_GROUP: Final = HealthIssue(
    "AutoScalingGroupNotFound", "The Auto Scaling group of the nodegroup could not be found."
)

_NOT_OFFERED: Final = ("remoteAccess",)


def scaling_group(group: Resource) -> str:
    """Return the name of a node group's Auto Scaling group."""
    return str(group.body["resources"]["autoScalingGroups"][0]["name"])


def described(group: Resource) -> dict[str, Any]:
    """Return a node group as EKS shows it.

    Its size is that of the Auto Scaling group at this moment. Without that group it is DEGRADED.
    """
    body = deepcopy(group.body)
    try:
        body["scalingConfig"] = size_members(autoscaling.size_of(scaling_group(group)))
    except LookupError:
        if body["status"] == "ACTIVE":
            body.update(status="DEGRADED", health={"issues": issue_members((_NO_GROUP,), scaling_group(group))})
    return body


def resize(group: Resource, given: Mapping[str, int]) -> None:
    """Change the size of the Auto Scaling group as it is now, which users may have changed or removed meanwhile."""
    try:
        size = node_group_checks.merged(given, autoscaling.size_of(scaling_group(group)))
        size = replace(size, desired=min(max(size.desired, size.minimum), size.maximum))
        autoscaling.resize(scaling_group(group), size)
    except LookupError:
        return
    group.body["scalingConfig"] = size_members(size)


def size_members(size: Size) -> dict[str, int]:
    """Return a size in EKS's words."""
    return {"minSize": size.minimum, "maxSize": size.maximum, "desiredSize": size.desired}


class NodeGroups:
    """CreateNodegroup, DescribeNodegroup, ListNodegroups and DeleteNodegroup."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {
            "CreateNodegroup": self.create,
            "DeleteNodegroup": self.delete,
            "DescribeNodegroup": self.describe,
            "ListNodegroups": self.list,
        }

    def create(self, request: Request) -> dict[str, Any]:
        """Begin to make a node group; its Auto Scaling group is there at once."""
        check_offered(request, _NOT_OFFERED)
        cluster, name = self._store.cluster(request["clusterName"]), request["nodegroupName"]
        if name in cluster.groups:
            raise in_use(f"NodeGroup already exists with name {name} and cluster name {cluster.name}")
        if cluster.status != "ACTIVE":
            raise invalid_request(f"Cluster '{cluster.name}' is not in ACTIVE status")
        if len(cluster.groups) >= GROUPS_MAX:
            raise over_quota(f"Cluster {cluster.name} has {GROUPS_MAX} nodegroups, which is the limit")
        node_group_checks.check_name(name)
        size = _size(request)
        version, release = _versions(request, cluster)
        node_group_checks.check_labels(request.get("labels", {}))
        node_group_checks.check_taints(request.get("taints", []))
        node_group_checks.check_repair(request.get("nodeRepairConfig", {}))
        update_config = node_group_checks.update_config(request.get("updateConfig", {}))
        warm = node_group_checks.warm_pool(request.get("warmPoolConfig", {}), {})
        machines = _machines(request)
        account.check_node_role(request["nodeRole"])
        places = account.subnets(request["subnets"])
        if places.vpc != cluster.body["resourcesVpcConfig"]["vpcId"]:
            raise invalid_parameter(f"Subnets must lie in the VPC of cluster {cluster.name}, given {places.vpc}")
        template = _template(request)
        node_group_checks.check_capacity(request.params, template, places.zones.values())
        types = machines.get("instanceTypes") or [template["InstanceType"]]
        node_group_checks.check_interfaces(template, types, places.vpc)
        placement = node_group_checks.placement(template, places.zones.values())
        unique = new_id()
        group = Resource(
            {
                "nodegroupName": name,
                "nodegroupArn": arn("nodegroup", cluster.name, name, unique),
                "clusterName": cluster.name,
                "version": version,
                "releaseVersion": release,
                "createdAt": now(),
                "modifiedAt": now(),
                "status": "CREATING",
                "capacityType": request.get("capacityType", "ON_DEMAND"),
                "scalingConfig": size_members(size),
                "subnets": list(places.zones),
                "amiType": request.get("amiType", DEFAULT_AMI_TYPE),
                "nodeRole": request["nodeRole"],
                "labels": request.get("labels", {}),
                "resources": {"autoScalingGroups": [{"name": f"eks-{name}-{unique}"}]},
                "health": {"issues": []},
                "updateConfig": update_config,
                "tags": request.get("tags", {}),
                **machines,
                **request.kept("taints", "nodeRepairConfig"),
                **({"warmPoolConfig": warm} if warm else {}),
            }
        )
        _make_scaling_group(cluster, group, size, placement)
        autoscaling.warm(scaling_group(group), warm)
        cluster.groups[name] = group
        admit_nodes(cluster, request["nodeRole"])
        answer = described(group)

        def failed(issues: tuple[HealthIssue, ...]) -> None:
            health = {"issues": issue_members(issues, scaling_group(group))}
            group.body.update(status="CREATE_FAILED", health=health)

        def done() -> None:
            if issues := _template_issues(request):
                failed(issues)
            else:
                group.body.update(status="ACTIVE")

        self._store.begin(request, group, done, failed)
        return {"nodegroup": answer}

    def describe(self, request: Request) -> dict[str, Any]:
        """Return a node group."""
        _, group = self._store.group(request)
        return {"nodegroup": described(group)}

    def list(self, request: Request) -> dict[str, Any]:
        """Return the names of a cluster's node groups."""
        return page(request, "nodegroups", sorted(self._store.cluster(request["clusterName"]).groups))

    def delete(self, request: Request) -> dict[str, Any]:
        """Begin to remove a node group, whatever its state, and its Auto Scaling group with it."""
        cluster, group = self._store.group(request)
        before, name = group.status, group.body["nodegroupName"]
        if before == "UPDATING":
            raise in_use("Nodegroup cannot be deleted while an update is in progress")
        group.body["status"] = "DELETING"
        answer = described(group)

        def done() -> None:
            autoscaling.delete(scaling_group(group))
            del cluster.groups[name]
            dismiss_nodes(cluster, group.body["nodeRole"])

        def failed(issues: tuple[HealthIssue, ...]) -> None:
            health = {"issues": issue_members(issues, scaling_group(group))}
            group.body.update(status="DELETE_FAILED", health=health)

        if before != "DELETING":
            self._store.begin(request, group, done, failed)
        return {"nodegroup": answer}


def _size(request: Request) -> Size:
    given = request.get("scalingConfig", {})
    if given and len(given) != len(("minSize", "maxSize", "desiredSize")):
        raise invalid_parameter("scalingConfig needs all or none of minSize, maxSize and desiredSize")
    return node_group_checks.size(given, DEFAULT_SIZE)


def _template(request: Request) -> Mapping[str, Any]:
    named = request.get("launchTemplate")
    return account.launch_template(named).data if named else {}


def _versions(request: Request, cluster: Cluster) -> tuple[str, str]:
    version = request.get("version", cluster.version)
    if version != cluster.version:
        # https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html: no other one is accepted.
        raise invalid_parameter(
            f"Nodegroup Kubernetes version {version} must be equal to cluster Kubernetes version {cluster.version}"
        )
    release = request.get("releaseVersion", versions.newest_release(version))
    versions.check_release(release, version)
    return version, release


def _machines(request: Request) -> dict[str, Any]:
    types = request.get("instanceTypes") or []
    node_group_checks.check_types(types, request.get("amiType", DEFAULT_AMI_TYPE))
    if "launchTemplate" not in request.params:
        disk = request.get("diskSize", DEFAULT_DISK_GIB)
        return {"instanceTypes": types or list(DEFAULT_INSTANCE_TYPES), "diskSize": disk}
    template = account.launch_template(request["launchTemplate"])
    node_group_checks.check_template(template, request.params)
    if template.data.get("ImageId"):
        raise NotImplementedError("CreateNodegroup with an image of one's own in the launch template")
    members: dict[str, Any] = {"launchTemplate": template.members}
    if not template.data.get("InstanceType"):
        members["instanceTypes"] = types or list(DEFAULT_INSTANCE_TYPES)
    return members


def _template_of(body: Mapping[str, Any]) -> account.LaunchTemplate:
    """Return the launch template of a group, which says its id and its name; a request may name one of them only."""
    return account.launch_template({key: body["launchTemplate"][key] for key in ("id", "version")})


def _template_issues(request: Request) -> tuple[HealthIssue, ...]:
    given = request.get("launchTemplate")
    return node_group_checks.user_data_issues(account.launch_template(given)) if given else ()


def _make_scaling_group(cluster: Cluster, group: Resource, size: Size, placement: str | None) -> None:
    body = group.body
    types = body.get("instanceTypes") or [_template_of(body).data["InstanceType"]]
    autoscaling.make(
        GroupArgs(
            name=scaling_group(group),
            size=size,
            subnets=body["subnets"],
            instance_type=types[0],
            # Those of https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html; those of the node
            # group itself do not reach the Auto Scaling group (aws/containers-roadmap#724).
            tags={
                "eks:cluster-name": cluster.name,
                "eks:nodegroup-name": body["nodegroupName"],
                f"kubernetes.io/cluster/{cluster.name}": "owned",
                "k8s.io/cluster-autoscaler/enabled": "true",
                f"k8s.io/cluster-autoscaler/{cluster.name}": "owned",
            },
            placement_group=placement,
        )
    )
