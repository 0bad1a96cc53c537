"""Access entries and the policies associated with them."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

from components.contract.eks.access import RESERVED_GROUPS
from emulators.aws.server import ACCOUNT
from emulators.aws.server.eks import account
from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.refusals import in_use, invalid_parameter, invalid_request, not_found
from emulators.aws.server.eks.store import Cluster, Entry, Request, Store, arn, new_id, now

CREATOR: Final = f"arn:aws:iam::{ACCOUNT}:root"
"""Who calls the emulator, whatever the credentials say; moto takes any."""

POLICIES: Final = (
    *("AmazonEKSAdminPolicy", "AmazonEKSAdminViewPolicy", "AmazonEKSAutoNodePolicy", "AmazonEKSBlockStoragePolicy"),
    *("AmazonEKSClusterAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSViewPolicy"),
)
"""A part of https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html."""

NODE_TYPES: Final = ("EC2", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "HYBRID_LINUX", "HYPERPOD_LINUX")
"""Types of entries for nodes; theirs is decided by the type."""

_PREFIX: Final = "arn:aws:eks::aws:cluster-access-policy/"


def bootstrap(cluster: Cluster) -> None:
    """Give the cluster's creator the whole cluster, if the cluster was asked to."""
    config = cluster.body["accessConfig"]
    if config["bootstrapClusterCreatorAdminPermissions"] and config["authenticationMode"] != "CONFIG_MAP":
        entry = _entry(cluster, CREATOR, "STANDARD")
        entry.is_made_by_eks = True
        _associate(entry, f"{_PREFIX}AmazonEKSClusterAdminPolicy", {"type": "cluster", "namespaces": []})


def admit_nodes(cluster: Cluster, role: str) -> None:
    """Let the nodes of a managed group in, as EKS does by itself when it makes one.

    https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html
    """
    if cluster.body["accessConfig"]["authenticationMode"] != "CONFIG_MAP" and role not in cluster.entries:
        entry = _entry(cluster, role, "EC2_LINUX")
        entry.is_made_by_eks = True
        entry.body["kubernetesGroups"] = ["system:nodes"]
        entry.body["username"] = "system:node:{{EC2PrivateDNSName}}"


def dismiss_nodes(cluster: Cluster, role: str) -> None:
    """Take the entry of a role away with the last managed group that has the role."""
    entry = cluster.entries.get(role)
    is_needed = any(group.body["nodeRole"] == role for group in cluster.groups.values())
    if entry and entry.is_made_by_eks and not is_needed:
        del cluster.entries[role]


class Access:
    """Access entries, their policies, and the list of all policies."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {
            "AssociateAccessPolicy": self.associate,
            "CreateAccessEntry": self.create,
            "DeleteAccessEntry": self.delete,
            "DescribeAccessEntry": self.describe,
            "DisassociateAccessPolicy": self.disassociate,
            "ListAccessEntries": self.list,
            "ListAccessPolicies": self.list_policies,
            "ListAssociatedAccessPolicies": self.list_associated,
            "UpdateAccessEntry": self.update,
        }

    def create(self, request: Request) -> dict[str, Any]:
        """Make an entry."""
        cluster, principal = self._with_entries(request), request["principalArn"]
        type_, groups = request.get("type", "STANDARD"), request.get("kubernetesGroups", [])
        if type_ != "STANDARD" and type_ not in NODE_TYPES:
            raise invalid_parameter(f"The type {type_} is not valid; known: STANDARD, {', '.join(NODE_TYPES)}")
        if type_ != "STANDARD" and (groups or request.get("username")):
            raise invalid_parameter("kubernetesGroups and username can be specified for type STANDARD only")
        _check_groups(groups)
        if principal in cluster.entries:
            # terraform-aws-modules/terraform-aws-eks#3293 has the words.
            raise in_use("The specified access entry resource is already in use on this cluster.")
        account.check_principal(principal)
        entry = _entry(cluster, principal, type_)
        entry.body.update(request.kept("kubernetesGroups", "tags", "username"))
        return {"accessEntry": deepcopy(entry.body)}

    def describe(self, request: Request) -> dict[str, Any]:
        """Return an entry."""
        return {"accessEntry": self._find(request).body}

    def list(self, request: Request) -> dict[str, Any]:
        """Return the principals of all entries, or of those that have a policy."""
        policy = request.get("associatedPolicyArn")
        entries = self._with_entries(request).entries
        return page(
            request, "accessEntries", sorted(p for p, e in entries.items() if not policy or policy in e.policies)
        )

    def update(self, request: Request) -> dict[str, Any]:
        """Change the Kubernetes groups and the name of an entry."""
        entry = self._standard(request)
        _check_groups(request.get("kubernetesGroups", []))
        entry.body.update(request.kept("kubernetesGroups", "username"), modifiedAt=now())
        return {"accessEntry": deepcopy(entry.body)}

    def delete(self, request: Request) -> dict[str, Any]:
        """Remove an entry with its associations."""
        self._find(request)
        del self._store.cluster(request["clusterName"]).entries[request["principalArn"]]
        return {}

    def associate(self, request: Request) -> dict[str, Any]:
        """Associate a policy with an entry, or give the association another scope."""
        entry, policy, scope = self._standard(request), request["policyArn"], request["accessScope"]
        if policy.removeprefix(_PREFIX) not in POLICIES:
            raise invalid_parameter(f"The policyArn {policy} is not valid")
        if (scope.get("type") == "namespace") != bool(scope.get("namespaces")):
            raise invalid_parameter("accessScope: type namespace needs namespaces, type cluster has none")
        associated = _associate(entry, policy, {"type": scope["type"], "namespaces": scope.get("namespaces", [])})
        about = {"clusterName": request["clusterName"], "principalArn": request["principalArn"]}
        return {**about, "associatedAccessPolicy": deepcopy(associated)}

    def disassociate(self, request: Request) -> dict[str, Any]:
        """Take a policy from an entry."""
        entry = self._find(request)
        if request["policyArn"] not in entry.policies:
            raise not_found(
                f"The policy {request['policyArn']} is not associated with the access entry {request['principalArn']}"
            )
        del entry.policies[request["policyArn"]]
        return {}

    def list_associated(self, request: Request) -> dict[str, Any]:
        """Return the policies of an entry with their scopes."""
        found = [policy for _, policy in sorted(self._find(request).policies.items())]
        about = {"clusterName": request["clusterName"], "principalArn": request["principalArn"]}
        return {**about, **page(request, "associatedAccessPolicies", found)}

    def list_policies(self, request: Request) -> dict[str, Any]:
        """Return the policies that EKS has."""
        return page(request, "accessPolicies", [{"name": name, "arn": f"{_PREFIX}{name}"} for name in POLICIES])

    def _with_entries(self, request: Request) -> Cluster:
        cluster = self._store.cluster(request["clusterName"])
        if cluster.body["accessConfig"]["authenticationMode"] == "CONFIG_MAP":
            raise invalid_request(
                "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this "
                "operation."
            )
        return cluster

    def _find(self, request: Request) -> Entry:
        entries, principal = self._with_entries(request).entries, request["principalArn"]
        if principal not in entries:
            raise not_found(f"The specified principalArn could not be found: {principal}")
        return entries[principal]

    def _standard(self, request: Request) -> Entry:
        entry = self._find(request)
        if entry.body["type"] != "STANDARD":
            # aws-controllers-k8s/community#2144 has the words.
            raise invalid_parameter('This operation can only be performed on Access Entries with a type of "STANDARD".')
        return entry


def _entry(cluster: Cluster, principal: str, type_: str) -> Entry:
    kind, _, name = principal.rpartition(":")[2].partition("/")
    short = name.rpartition("/")[2]
    session = f"arn:aws:sts::{ACCOUNT}:assumed-role/{short}/{{{{SessionName}}}}"
    cluster.entries[principal] = entry = Entry(
        {
            "clusterName": cluster.name,
            "principalArn": principal,
            "kubernetesGroups": [],
            "accessEntryArn": arn("access-entry", cluster.name, kind, ACCOUNT, short, new_id()),
            "createdAt": now(),
            "modifiedAt": now(),
            "tags": {},
            "username": session if kind == "role" else principal,
            "type": type_,
        }
    )
    return entry


def _associate(entry: Entry, policy: str, scope: dict[str, Any]) -> dict[str, Any]:
    made = entry.policies.get(policy, {}).get("associatedAt", now())
    entry.policies[policy] = {"policyArn": policy, "accessScope": scope, "associatedAt": made, "modifiedAt": now()}
    return entry.policies[policy]


def _check_groups(groups: list[str]) -> None:
    for group in groups:
        if group.startswith(RESERVED_GROUPS):
            raise invalid_parameter(
                f"The kubernetes group name {group} is invalid, it cannot start with {', '.join(RESERVED_GROUPS)}"
            )
