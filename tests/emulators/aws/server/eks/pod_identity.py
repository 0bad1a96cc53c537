"""Pod identity associations: which service account of a cluster gets which role."""

import secrets
import string
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, Final

from emulators.aws.server.eks import account
from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.refusals import in_use, invalid_request, not_found
from emulators.aws.server.eks.store import Cluster, Request, Resource, Store, arn, now

ID_LENGTH: Final = 17
"""Random characters of an id, after ``a-``."""

_SUMMARY: Final = ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId", "ownerArn")
_CHANGEABLE: Final = ("roleArn", "disableSessionTags", "targetRoleArn", "policy")


def associate(cluster: Cluster, namespace: str, service_account: str, role: str) -> Resource:
    """Give a service account a role, or refuse a role that pods cannot assume or an account that has one."""
    account.check_pod_role(role)
    if there := find_association(cluster, namespace, service_account):
        # eksctl-io/eksctl#7753 has the words.
        raise in_use(f"Association already exists: {there.body['associationId']}")
    identity = "a-" + "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(ID_LENGTH))
    cluster.associations[identity] = made = Resource(
        {
            "clusterName": cluster.name,
            "namespace": namespace,
            "serviceAccount": service_account,
            "roleArn": role,
            "associationArn": arn("podidentityassociation", cluster.name, identity),
            "associationId": identity,
            "tags": {},
            "createdAt": now(),
            "modifiedAt": now(),
            "disableSessionTags": False,
        }
    )
    return made


def check_addable(cluster: Cluster, owner: str, namespace: str, wanted: Iterable[Mapping[str, str]]) -> None:
    """Refuse what an add-on cannot have, before any of it is changed."""
    for each in wanted:
        account.check_pod_role(each["roleArn"])
        there = find_association(cluster, namespace, each["serviceAccount"])
        if there and there.body.get("ownerArn") != owner:
            raise in_use(f"Association already exists: {there.body['associationId']}")


def replace_owned(cluster: Cluster, owner: str, namespace: str, wanted: Iterable[Mapping[str, str]]) -> list[str]:
    """Let an add-on have exactly these associations; return their ARNs."""
    for identity in [key for key, each in cluster.associations.items() if each.body.get("ownerArn") == owner]:
        del cluster.associations[identity]
    arns = []
    for each in wanted:
        made = associate(cluster, namespace, each["serviceAccount"], each["roleArn"])
        made.is_made_by_eks = True
        made.body["ownerArn"] = owner
        arns.append(made.body["associationArn"])
    return arns


class PodIdentity:
    """Pod identity associations."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {
            "CreatePodIdentityAssociation": self.create,
            "DeletePodIdentityAssociation": self.delete,
            "DescribePodIdentityAssociation": self.describe,
            "ListPodIdentityAssociations": self.list,
            "UpdatePodIdentityAssociation": self.update,
        }

    def create(self, request: Request) -> dict[str, Any]:
        """Make an association."""
        cluster = self._store.cluster(request["clusterName"])
        if cluster.status not in ("ACTIVE", "UPDATING"):
            raise invalid_request(f"Cluster '{cluster.name}' is not in ACTIVE status")
        made = associate(cluster, request["namespace"], request["serviceAccount"], request["roleArn"])
        made.body.update(request.kept("tags", *_CHANGEABLE))
        return {"association": deepcopy(made.body)}

    def describe(self, request: Request) -> dict[str, Any]:
        """Return an association."""
        return {"association": self._one(request).body}

    def list(self, request: Request) -> dict[str, Any]:
        """Return short forms of all associations, or of those of a namespace or a service account."""
        wanted = request.kept("namespace", "serviceAccount").items()
        found = self._store.cluster(request["clusterName"]).associations
        bodies = [each.body for _, each in sorted(found.items()) if wanted <= each.body.items()]
        short = [{name: body[name] for name in _SUMMARY if name in body} for body in bodies]
        return page(request, "associations", short)

    def update(self, request: Request) -> dict[str, Any]:
        """Give the service account another role."""
        association = self._not_owned(request)
        if "roleArn" in request.params:
            account.check_pod_role(request["roleArn"])
        association.body.update(request.kept(*_CHANGEABLE), modifiedAt=now())
        return {"association": deepcopy(association.body)}

    def delete(self, request: Request) -> dict[str, Any]:
        """Take the role from the service account."""
        association = self._not_owned(request)
        del self._store.cluster(request["clusterName"]).associations[request["associationId"]]
        return {"association": association.body}

    def _one(self, request: Request) -> Resource:
        identity = request["associationId"]
        found = self._store.cluster(request["clusterName"]).associations
        if identity not in found:
            raise not_found(f"No association found with id: {identity}")
        return found[identity]

    def _not_owned(self, request: Request) -> Resource:
        association = self._one(request)
        if owner := association.body.get("ownerArn"):
            raise invalid_request(f"Association {request['associationId']} is owned by {owner}; change it there")
        return association


def find_association(cluster: Cluster, namespace: str, service_account: str) -> Resource | None:
    """Return the association of a service account; None if it has none."""
    pair = namespace, service_account
    found = cluster.associations.values()
    return next((each for each in found if (each.body["namespace"], each.body["serviceAccount"]) == pair), None)
