"""Add-ons: made, read, changed, deleted. Those whose pods need a node are well only while there is one."""

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

import yaml

from emulators.aws.server.eks import addon_catalogue, pod_identity, updates
from emulators.aws.server.eks.node_groups import described
from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.refusals import in_use, invalid_parameter, invalid_request
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

_NO_REPLICAS: Final = HealthIssue(
    "InsufficientNumberOfReplicas", "The add-on is unhealthy because it doesn't have the desired number of replicas."
)
"""aws/containers-roadmap#2328."""

_CONFLICT: Final = HealthIssue(
    "ConfigurationConflict", "Conflicts found when trying to apply: the add-on is in the cluster already."
)

_BUSY: Final = ("CREATING", "UPDATING", "DELETING")


class Addons:
    """CreateAddon, DescribeAddon, ListAddons, UpdateAddon and DeleteAddon."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {
            "CreateAddon": self.create,
            "DeleteAddon": self.delete,
            "DescribeAddon": self.describe,
            "ListAddons": self.list,
            "UpdateAddon": self.update,
        }

    def create(self, request: Request) -> dict[str, Any]:
        """Begin to install an add-on."""
        if request.get("namespaceConfig"):
            raise NotImplementedError("CreateAddon with namespaceConfig")
        cluster, name = self._store.cluster(request["clusterName"]), request["addonName"]
        version = request.get("addonVersion") or addon_catalogue.offer(name).newest_for(cluster.version)
        addon_catalogue.check_version(name, version, cluster.version)
        if name in cluster.addons:
            raise in_use("Addon already exists.")
        if cluster.status != "ACTIVE":
            raise invalid_request(f"Cluster '{cluster.name}' is not in ACTIVE status")
        _check_configuration(request.get("configurationValues", ""))
        own = arn("addon", cluster.name, name, new_id())
        wanted = request.get("podIdentityAssociations", [])
        offer = addon_catalogue.offer(name)
        pod_identity.check_addable(cluster, own, offer.namespace, wanted)
        addon = Resource(
            {
                "addonName": name,
                "clusterName": cluster.name,
                "status": "CREATING",
                "addonVersion": version,
                "health": {"issues": []},
                "addonArn": own,
                "createdAt": now(),
                "modifiedAt": now(),
                "tags": request.get("tags", {}),
                "owner": offer.owner,
                "publisher": "eks",
                "podIdentityAssociations": pod_identity.replace_owned(cluster, own, offer.namespace, wanted),
                **request.kept("configurationValues", "serviceAccountRoleArn"),
            }
        )
        cluster.addons[name] = addon
        answer = deepcopy(addon.body)
        # https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAddon.html, ``resolveConflicts``.
        is_in_the_way = name in cluster.self_managed and request.get("resolveConflicts") != "OVERWRITE"

        def failed(issues: tuple[HealthIssue, ...]) -> None:
            addon.body.update(status="CREATE_FAILED", health={"issues": issue_members(issues)})

        def done() -> None:
            if is_in_the_way:
                failed((_CONFLICT,))
            else:
                cluster.self_managed -= {name}
                addon.body["status"] = "ACTIVE"

        self._store.begin(request, addon, done, failed)
        return {"addon": answer}

    def describe(self, request: Request) -> dict[str, Any]:
        """Return an add-on: DEGRADED while its pods find no node."""
        return {"addon": _described(*self._store.addon(request))}

    def list(self, request: Request) -> dict[str, Any]:
        """Return the names of a cluster's add-ons."""
        return page(request, "addons", sorted(self._store.cluster(request["clusterName"]).addons))

    def update(self, request: Request) -> dict[str, Any]:
        """Begin to change version, configuration or roles; what is not given stays."""
        cluster, addon = self._store.addon(request)
        name, body = addon.body["addonName"], addon.body
        if addon.status in _BUSY:
            # awslabs/cdk-eks-blueprints#447 has the words.
            raise in_use(f"Addon {name} cannot be updated as it is currently in {addon.status} state")
        changed = request.kept("addonVersion", "configurationValues", "serviceAccountRoleArn")
        if "addonVersion" in changed:
            addon_catalogue.check_version(name, changed["addonVersion"], cluster.version)
        _check_configuration(changed.get("configurationValues", ""))
        wanted = request.get("podIdentityAssociations")
        namespace = addon_catalogue.offer(name).namespace
        pod_identity.check_addable(cluster, body["addonArn"], namespace, wanted or [])

        def apply() -> None:
            body.update(changed, health={"issues": []})
            if wanted is not None:
                body["podIdentityAssociations"] = pod_identity.replace_owned(
                    cluster, body["addonArn"], namespace, wanted
                )

        given = request.kept("addonVersion", "configurationValues", "podIdentityAssociations", "resolveConflicts")
        change = updates.Change(
            cluster=cluster,
            resource=addon,
            type="AddonUpdate",
            params={member[0].upper() + member[1:]: value for member, value in given.items()},
            apply=apply,
            addon=name,
            status_if_failed="UPDATE_FAILED",
        )
        return updates.start(self._store, request, change)

    def delete(self, request: Request) -> dict[str, Any]:
        """Begin to remove an add-on with its associations; with ``preserve`` its pods stay, unmanaged."""
        cluster, addon = self._store.addon(request)
        before, name = addon.status, addon.body["addonName"]
        if before == "UPDATING":
            raise in_use(f"Addon {name} cannot be deleted as it is currently in {before} state")
        addon.body["status"] = "DELETING"
        answer = deepcopy(addon.body)

        def done() -> None:
            pod_identity.replace_owned(cluster, addon.body["addonArn"], addon_catalogue.offer(name).namespace, ())
            cluster.self_managed |= {name} if request.get("preserve") else set()
            del cluster.addons[name]

        def failed(issues: tuple[HealthIssue, ...]) -> None:
            addon.body.update(status="DELETE_FAILED", health={"issues": issue_members(issues)})

        if before != "DELETING":
            self._store.begin(request, addon, done, failed)
        return {"addon": answer}


def _described(cluster: Cluster, addon: Resource) -> dict[str, Any]:
    body = deepcopy(addon.body)
    is_deployment = addon_catalogue.OFFERS[body["addonName"]].is_deployment
    if body["status"] == "ACTIVE" and is_deployment and not _has_node(cluster, body.get("configurationValues", "")):
        body.update(status="DEGRADED", health={"issues": issue_members((_NO_REPLICAS,))})
    return body


def _has_node(cluster: Cluster, configuration: str) -> bool:
    """Return whether a node takes the add-on's pods: with the labels that they select and no taint against them.

    Tolerations in a configuration are not read; no add-on of this package has any.
    """
    values = _values(configuration)
    selector = values.get("nodeSelector") or values.get("controller", {}).get("nodeSelector") or {}
    groups = [described(group) for group in cluster.groups.values()]
    return any(
        selector.items() <= group["labels"].items()
        and not any(taint["effect"] != "PREFER_NO_SCHEDULE" for taint in group.get("taints", ()))
        and group["scalingConfig"]["desiredSize"]
        for group in groups
        if group["status"] in ("ACTIVE", "UPDATING")
    )


def _check_configuration(text: str) -> None:
    try:
        values = _values(text)
    except (ValueError, yaml.YAMLError) as error:
        raise invalid_parameter(f"ConfigurationValue is not in valid JSON or YAML format: {error}") from None
    if not isinstance(values, dict):
        raise invalid_parameter("ConfigurationValue provided in request is not supported: an object is required")


def _values(text: str) -> Any:
    # JSON is most of what is sent, and YAML's own reader is slow.
    return (json.loads(text) if text.startswith("{") else yaml.safe_load(text)) or {}
