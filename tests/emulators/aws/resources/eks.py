"""EKS: clusters, node groups and add-ons.

The real plug-in sends whole objects: if only a maximum changes, ``scalingConfig`` goes with the desired size of the
program's inputs. Sources: internal/service/eks/*.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from emulators.aws.resources.kinds import (
    Change,
    DescribeCall,
    Given,
    Kind,
    Minutes,
    Params,
    Removal,
    State,
    Tagging,
)
from workbench.offline.aws.operations import Request

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""All that EKS knows: an update names those that are off too."""

WHOLE: Final = ("nodeRepairConfig", "scalingConfig", "updateConfig")
"""Objects of a node group that are sent whole."""

REASONS: Final = "health.issues[].join(': ', [join(', ', resourceIds || `[]`), code, message || ''])"

_GONE: Final = frozenset({"ResourceNotFoundException"})
_TAGGING: Final = Tagging("eks", "TagResource", "UntagResource", {"resourceArn": "{arn}"}, "tags", "tagKeys")
_CLUSTER: Final = {"name": "{name}"}
_NODE_GROUP: Final = {"clusterName": "{clusterName}", "nodegroupName": "{nodeGroupName}"}
_ADDON: Final = {"clusterName": "{clusterName}", "addonName": "{addonName}"}


def _logging(given: Given) -> Params:
    wanted = list(given.new.get("enabledClusterLogTypes") or [])
    rest = [each for each in LOG_TYPES if each not in wanted]
    return {"logging": {"clusterLogging": [{"types": wanted, "enabled": True}, {"types": rest, "enabled": False}]}}


def _cluster(given: Given) -> Params:
    return _logging(given) if given.new.get("enabledClusterLogTypes") else {}


def _encryption(given: Given) -> Params | None:
    """Return what begins encryption; it never ends and never gets another key."""
    return None if given.old.get("encryptionConfig") else {"name": None, "clusterName": given.keys["name"]}


def _authentication(given: Given) -> Params:
    return {"accessConfig": {"authenticationMode": given.new["accessConfig"]["authenticationMode"]}}


def _configured(*inputs: str, about: str, **request: Any) -> Change:
    return Change(inputs=inputs, request=Request("eks", "UpdateClusterConfig", **request), about=about)


def _vpc(*names: str) -> Change:
    """Return the change of some of a cluster's VPC settings; EKS takes one sort at a time."""

    def build(given: Given) -> Params:
        config = given.new["vpcConfig"]
        return {"resourcesVpcConfig": {name: config[name] for name in names if config.get(name) is not None}}

    return Change(
        inputs=tuple(f"vpcConfig.{name}" for name in names),
        request=Request("eks", "UpdateClusterConfig", inside=None),
        about="VPC configuration",
        build=build,
    )


CLUSTER: Final = Kind(
    noun="EKS Cluster",
    id="{name}",
    keys=_CLUSTER,
    look=DescribeCall("eks", "DescribeCluster", {"name": "{name}"}, "cluster"),
    gone=_GONE,
    told={
        "vpcConfig": "resourcesVpcConfig",
        "enabledClusterLogTypes": "logging.clusterLogging[?enabled].types[]",
    },
    untold=frozenset({"accessConfig.bootstrapClusterCreatorAdminPermissions"}),
    carried=frozenset({"bootstrapSelfManagedAddons", "forceUpdateVersion"}),
    outputs={
        "arn": "arn",
        "certificateAuthority": "certificateAuthority",
        "createdAt": "createdAt",
        "endpoint": "endpoint",
        "identities": "identity && [{oidcs: [oidc]}]",
        "platformVersion": "platformVersion",
        "status": "status",
    },
    state=State("status", "ACTIVE", frozenset({"PENDING", "CREATING"}), reasons=REASONS),
    minutes=Minutes(create=30, update=60, delete=15),
    create=_cluster,
    changes=(
        Change(
            inputs=("version",),
            request=Request("eks", "UpdateClusterVersion"),
            about="version",
            build=lambda given: {"force": True} if given.new.get("forceUpdateVersion") else {},
        ),
        Change(
            inputs=("accessConfig.authenticationMode",),
            request=Request("eks", "UpdateClusterConfig", inside=None),
            about="access configuration",
            build=_authentication,
        ),
        Change(
            inputs=("encryptionConfig",),
            request=Request("eks", "AssociateEncryptionConfig"),
            about="encryption config",
            build=_encryption,
        ),
        Change(
            inputs=("enabledClusterLogTypes",),
            request=Request("eks", "UpdateClusterConfig", inside=None),
            about="logging",
            build=_logging,
        ),
        _configured("deletionProtection", about="deletion protection"),
        _configured("upgradePolicy", about="upgrade policy"),
        _vpc("endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs"),
        _vpc("subnetIds"),
        _vpc("securityGroupIds"),
        _configured("zonalShiftConfig", about="zonal shift config"),
    ),
    tagging=_TAGGING,
    updates={"name": "{name}"},
    removal=Removal((("eks", "DeleteCluster", _CLUSTER),)),
)


def _labels(given: Given) -> Params:
    """Return what to add to and remove from the labels of a group, nothing if they stay."""
    old, new = given.old.get("labels") or {}, given.new.get("labels") or {}
    changed = {key: str(value) for key, value in new.items() if old.get(key) != value}
    removed = sorted(old.keys() - new.keys())
    change = {"addOrUpdateLabels": changed or None, "removeLabels": removed or None}
    return _if_any("labels", change)


def _taints(given: Given) -> Params:
    old, new = given.old.get("taints") or [], given.new.get("taints") or []
    kept = {(each["key"], each["effect"]) for each in new}
    changed = [dict(each) for each in new if each not in old]
    removed = [dict(each) for each in old if (each["key"], each["effect"]) not in kept]
    return _if_any("taints", {"addOrUpdateTaints": changed or None, "removeTaints": removed or None})


def _if_any(name: str, change: Mapping[str, Any]) -> Params:
    said = {key: value for key, value in change.items() if value}
    return {name: said or None}


def _warm_pool(given: Given) -> Params:
    """Return the warm pool if it changes: EKS keeps one that a request does not name."""
    wanted = given.new.get("warmPoolConfig")
    if given.old.get("warmPoolConfig") == wanted:
        return {}
    numbers = {name: int(value) if isinstance(value, float) else value for name, value in (wanted or {}).items()}
    return {"warmPoolConfig": {"enabled": bool(wanted), **numbers}}


def _group_config(given: Given) -> Params:
    """Return labels and taints as a difference, and leave out those of the other objects that stay."""
    unchanged = {name: None for name in WHOLE if given.old.get(name) == given.new.get(name)}
    return {**unchanged, **_labels(given), **_taints(given), **_warm_pool(given)}


def _group_version(given: Given) -> Params:
    """Leave out versions that stay: EKS takes the one of the launch template or of the cluster then."""
    unchanged = {n: None for n in ("version", "releaseVersion") if given.old.get(n) == given.new.get(n)}
    return {**unchanged, "force": bool(given.new.get("forceUpdateVersion"))}


NODE_GROUP: Final = Kind(
    noun="EKS Node Group",
    id="{clusterName}:{nodeGroupName}",
    keys=_NODE_GROUP,
    look=DescribeCall("eks", "DescribeNodegroup", _NODE_GROUP, "nodegroup"),
    gone=_GONE,
    told={
        "nodeGroupName": "nodegroupName",
        "nodeRoleArn": "nodeRole",
        "subnetIds": "subnets",
        "remoteAccess.sourceSecurityGroupIds": "sourceSecurityGroups",
    },
    carried=frozenset({"forceUpdateVersion"}),
    outputs={
        "arn": "nodegroupArn",
        "resources": "resources && [resources.{autoscalingGroups: autoScalingGroups[].{name: name},"
        " remoteAccessSecurityGroupId: remoteAccessSecurityGroup || ''}]",
        "status": "status",
    },
    state=State("status", "ACTIVE", frozenset({"CREATING"}), reasons=REASONS),
    minutes=Minutes(create=60, update=60, delete=60),
    create=_warm_pool,
    changes=(
        Change(
            inputs=("launchTemplate.version", "launchTemplate.id", "launchTemplate.name", "releaseVersion", "version"),
            request=Request("eks", "UpdateNodegroupVersion"),
            about="version",
            build=_group_version,
        ),
        Change(
            inputs=("labels", "scalingConfig", "taints", "updateConfig", "nodeRepairConfig", "warmPoolConfig"),
            request=Request("eks", "UpdateNodegroupConfig", {name: name for name in WHOLE}, inside=None),
            about="config",
            build=_group_config,
        ),
    ),
    tagging=_TAGGING,
    updates={"name": "{clusterName}", "nodegroupName": "{nodeGroupName}"},
    removal=Removal((("eks", "DeleteNodegroup", _NODE_GROUP),)),
)


def _addon_config(given: Given) -> Params:
    changed = {
        name: given.new.get(name)
        for name in ("addonVersion", "configurationValues")
        if given.old.get(name) != given.new.get(name)
    }
    roles = given.new.get("podIdentityAssociations") or []
    if given.old.get("podIdentityAssociations") != given.new.get("podIdentityAssociations"):
        changed["podIdentityAssociations"] = [dict(each) for each in roles]
    role = given.new.get("serviceAccountRoleArn")
    return {**changed, "serviceAccountRoleArn": role, "resolveConflicts": given.new.get("resolveConflictsOnUpdate")}


def _addon_roles(given: Given) -> Sequence[Mapping[str, str]]:
    """Return service account and role of the pod identity associations that an add-on owns."""
    named = [arn.rpartition("/")[2] for arn in given.keys["found"].get("podIdentityAssociations") or []]
    looks = (
        given.aws.call(
            "eks", "DescribePodIdentityAssociation", clusterName=given.keys["clusterName"], associationId=each
        )
        for each in named
    )
    return [{name: each["association"][name] for name in ("roleArn", "serviceAccount")} for each in looks]


ADDON: Final = Kind(
    noun="EKS Add-On",
    id="{clusterName}:{addonName}",
    keys=_ADDON,
    look=DescribeCall("eks", "DescribeAddon", _ADDON, "addon"),
    more={"podIdentityAssociations": _addon_roles},
    gone=_GONE,
    carried=frozenset({"preserve", "resolveConflictsOnCreate", "resolveConflictsOnUpdate"}),
    outputs={"arn": "addonArn", "createdAt": "createdAt", "modifiedAt": "modifiedAt"},
    # An add-on without nodes is degraded for a while.
    state=State("status", "ACTIVE", frozenset({"CREATING", "DEGRADED"}), reasons=REASONS),
    minutes=Minutes(create=20, update=20, delete=40),
    changes=(
        Change(
            inputs=("addonVersion", "serviceAccountRoleArn", "configurationValues", "podIdentityAssociations"),
            request=Request("eks", "UpdateAddon", inside=None),
            build=_addon_config,
        ),
    ),
    tagging=_TAGGING,
    updates={"name": "{clusterName}", "addonName": "{addonName}"},
    removal=Removal(
        (("eks", "DeleteAddon", {**_ADDON, "preserve": lambda keys: keys.get("preserve") is True}),),
    ),
)

KINDS: Final = {
    "aws:eks/addon:Addon": ADDON,
    "aws:eks/cluster:Cluster": CLUSTER,
    "aws:eks/nodeGroup:NodeGroup": NODE_GROUP,
}
"""By type token."""
