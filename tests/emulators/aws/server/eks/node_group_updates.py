"""Changes to managed node groups, one at a time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from emulators.aws.server import autoscaling
from emulators.aws.server.eks import account, node_group_checks, updates, versions
from emulators.aws.server.eks.node_groups import described, resize, scaling_group
from emulators.aws.server.eks.refusals import in_use, invalid_parameter
from emulators.aws.server.eks.store import Cluster, Request, Resource, Store

_SIZES: Final = {"minSize": "MinSize", "maxSize": "MaxSize", "desiredSize": "DesiredSize"}
_UNAVAILABLE: Final = {
    "maxUnavailable": "MaxUnavailable",
    "maxUnavailablePercentage": "MaxUnavailablePercentage",
    "updateStrategy": "UpdateStrategy",
}
_WARM: Final = {
    "enabled": "WarmPoolEnabled",
    "maxGroupPreparedCapacity": "WarmPoolMaxGroupPreparedCapacity",
    "minSize": "WarmPoolMinSize",
    "poolState": "WarmPoolState",
    "reuseOnScaleIn": "WarmPoolReuseOnScaleIn",
}
"""Kinds of an update's parameters, by the member that they come from."""


class NodeGroupUpdates:
    """UpdateNodegroupConfig and UpdateNodegroupVersion."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {"UpdateNodegroupConfig": self.update_config, "UpdateNodegroupVersion": self.update_version}

    def update_config(self, request: Request) -> dict[str, Any]:
        """Begin to change size, labels, taints, and how updates and repairs go."""
        cluster, group = self._ready(request)
        body = group.body
        labels = _changed_labels(body["labels"], request.get("labels", {}))
        taints = _changed_taints(body.get("taints", []), request.get("taints", {}))
        node_group_checks.check_repair(request.get("nodeRepairConfig", {}))
        changed: dict[str, Any] = {"labels": labels, "taints": taints, **request.kept("nodeRepairConfig")}
        if "updateConfig" in request.params:
            changed["updateConfig"] = node_group_checks.update_config(request["updateConfig"])
        warm = node_group_checks.warm_pool(request.get("warmPoolConfig", {}), body.get("warmPoolConfig", {}))
        scaling = request.get("scalingConfig", {})
        node_group_checks.size(scaling, autoscaling.size_of(scaling_group(group)))
        params = _config_params(request)
        if not params:
            raise invalid_parameter("No changes needed: the request names none")

        def apply() -> None:
            body.update(changed)
            body.pop("warmPoolConfig", None)
            if warm:
                body["warmPoolConfig"] = warm
            autoscaling.warm(scaling_group(group), warm)
            if scaling:
                resize(group, scaling)

        change = updates.Change(
            cluster=cluster,
            resource=group,
            type="ConfigUpdate",
            params=params,
            apply=apply,
            group=body["nodegroupName"],
        )
        return updates.start(self._store, request, change)

    def update_version(self, request: Request) -> dict[str, Any]:
        """Begin to replace the nodes by ones of another version, image or launch template.

        A request that names no version means the cluster's: botocore's model of ``UpdateNodegroupVersionRequest``.
        """
        cluster, group = self._ready(request)
        body = group.body
        if body["capacityType"] == node_group_checks.CAPACITY_BLOCK:
            node_group_checks.check_empty(autoscaling.size_of(scaling_group(group)))
        version = request.get("version", cluster.version)
        release = request.get("releaseVersion") or versions.newest_release(version)
        versions.check_group_version(cluster, body["releaseVersion"], version, release)
        changed: dict[str, Any] = {"version": version, "releaseVersion": release}
        params = {"Version": version, "ReleaseVersion": release}
        placement = None
        if "launchTemplate" in request.params:
            template = _same_template(body, request["launchTemplate"])
            changed["launchTemplate"] = template
            params |= {"LaunchTemplateName": template["name"], "LaunchTemplateVersion": template["version"]}
            placement = _placement(body, account.launch_template(request["launchTemplate"]).data)

        def apply() -> None:
            body.update(changed)
            if "launchTemplate" in changed:
                autoscaling.place(scaling_group(group), placement)

        change = updates.Change(
            cluster=cluster,
            resource=group,
            type="VersionUpdate",
            params=params,
            apply=apply,
            group=body["nodegroupName"],
        )
        return updates.start(self._store, request, change)

    def _ready(self, request: Request) -> tuple[Cluster, Resource]:
        cluster, group = self._store.group(request)
        if described(group)["status"] != "ACTIVE":
            # aws/karpenter-provider-aws#133 has the words.
            raise in_use("Nodegroup cannot be updated as it is currently not in Active State")
        return cluster, group


def _changed_labels(present: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, str]:
    added = given.get("addOrUpdateLabels", {})
    node_group_checks.check_labels(added)
    removed = given.get("removeLabels", [])
    if both := sorted(added.keys() & set(removed)):
        raise invalid_parameter(f"Labels are both added and removed: {', '.join(both)}")
    return {key: value for key, value in {**present, **added}.items() if key not in removed}


def _changed_taints(present: Sequence[Mapping[str, str]], given: Mapping[str, Any]) -> list[Mapping[str, str]]:
    added, removed = given.get("addOrUpdateTaints", []), given.get("removeTaints", [])
    gone = {node_group_checks.identity(taint) for taint in (*added, *removed)}
    changed = [*(taint for taint in present if node_group_checks.identity(taint) not in gone), *added]
    node_group_checks.check_taints(changed)
    return changed


def _same_template(body: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """Return the members of a launch template of which only the version may be another one."""
    if "launchTemplate" not in body:
        raise invalid_parameter("Nodegroup was created without a launch template and cannot get one")
    template = account.launch_template(given)
    if template.id != body["launchTemplate"]["id"]:
        raise invalid_parameter(
            f"Launch template {template.id} must be the one that the nodegroup was created with: "
            f"{body['launchTemplate']['id']}"
        )
    return template.members


def _placement(body: Mapping[str, Any], template: Mapping[str, Any]) -> str | None:
    """Return the placement group of a template for a group's machines, or refuse what they cannot have."""
    places = account.subnets(body["subnets"])
    node_group_checks.check_interfaces(template, body.get("instanceTypes") or [template["InstanceType"]], places.vpc)
    return node_group_checks.placement(template, places.zones.values())


def _config_params(request: Request) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for member, kinds in (("scalingConfig", _SIZES), ("updateConfig", _UNAVAILABLE), ("warmPoolConfig", _WARM)):
        given = request.get(member, {})
        params |= {kind: str(given[name]) for name, kind in kinds.items() if given.get(name) is not None}
    labels, taints = request.get("labels", {}), request.get("taints", {})
    lists = {
        "LabelsToAdd": labels.get("addOrUpdateLabels"),
        "LabelsToRemove": labels.get("removeLabels"),
        "TaintsToAdd": taints.get("addOrUpdateTaints"),
        "TaintsToRemove": taints.get("removeTaints"),
        "NodeRepairConfig": request.get("nodeRepairConfig"),
    }
    return params | {kind: value for kind, value in lists.items() if value}
