"""Finds EKS resources by name inside the cluster."""

from collections.abc import Mapping
from typing import Any, Final

from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

MOVING: Final = frozenset({"CREATING", "PENDING"})
GONE: Final = frozenset({"DELETING"})


def cluster(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the cluster of the queried name."""
    return describe_cluster(account, query.inputs["name"])


def describe_cluster(account: AwsQueries, name: str) -> list[LookupResult]:
    """Return one cluster."""
    return _results(account.look_up("eks", "describe_cluster", name=name).get("cluster"), name)


def node_group(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the node groups of the queried name, which the provider generated from the logical name."""
    inside = query.inputs["clusterName"]
    result = list[LookupResult]()
    for name in account.listed("eks", "list_nodegroups", "nodegroups", clusterName=inside):
        if query.is_called("nodeGroupName", name):
            result += describe_node_group(account, inside, name)
    return result


def describe_node_group(account: AwsQueries, inside: str, name: str) -> list[LookupResult]:
    """Return one group of a cluster."""
    answer = account.look_up("eks", "describe_nodegroup", clusterName=inside, nodegroupName=name).get("nodegroup") or {}
    holds_data = (answer.get("labels") or {}).get(LabelKey.ROLE) == PoolRole.DATA
    return _results(answer, f"{inside}:{name}", inputs={"nodeGroupName": name}, holds_data=holds_data)


def addon(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the queried add-on."""
    return describe_addon(account, query.inputs["clusterName"], query.inputs["addonName"])


def describe_addon(account: AwsQueries, inside: str, name: str) -> list[LookupResult]:
    """Return one add-on of a cluster."""
    answer = account.look_up("eks", "describe_addon", clusterName=inside, addonName=name)
    return _results(answer.get("addon"), f"{inside}:{name}")


def access_entry(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the access entry of the queried principal."""
    return describe_access_entry(account, query.inputs["clusterName"], query.inputs["principalArn"])


def describe_access_entry(account: AwsQueries, inside: str, principal: str) -> list[LookupResult]:
    """Return one access entry of a cluster."""
    answer = account.look_up("eks", "describe_access_entry", clusterName=inside, principalArn=principal)
    return _results(answer.get("accessEntry"), f"{inside}:{principal}")


def access_policy_association(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the queried access policy of the queried principal."""
    inside, principal, policy = (query.inputs[key] for key in ("clusterName", "principalArn", "policyArn"))
    attached = account.listed(
        "eks",
        "list_associated_access_policies",
        "associatedAccessPolicies[].policyArn",
        clusterName=inside,
        principalArn=principal,
    )
    return [LookupResult(f"{inside}#{principal}#{policy}") for each in attached if each == policy]


def pod_identity_association(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the association of the queried service account with a role; only EKS knows its id."""
    inside, inputs = query.inputs["clusterName"], query.inputs
    identifiers = account.listed(
        "eks",
        "list_pod_identity_associations",
        "associations[].associationId",
        clusterName=inside,
        namespace=inputs["namespace"],
        serviceAccount=inputs["serviceAccount"],
    )
    return [result for each in identifiers for result in describe_pod_identity(account, inside, each)]


def describe_pod_identity(account: AwsQueries, inside: str, identifier: str) -> list[LookupResult]:
    """Return one Pod Identity association of a cluster."""
    answer = account.look_up(
        "eks", "describe_pod_identity_association", clusterName=inside, associationId=identifier
    ).get("association")
    # The provider reads it by this output, not by the id: hashicorp/terraform-provider-aws,
    # internal/service/eks/pod_identity_association.go.
    outputs = {"associationId": identifier, "associationArn": answer["associationArn"]} if answer else {}
    return _results(answer, identifier, outputs=outputs)


def _results(answer: Mapping[str, Any] | None, identifier: str, **more: Any) -> list[LookupResult]:
    if not answer or answer.get("status") in GONE:
        return []
    state = answer.get("status", "")
    return [LookupResult(identifier, state, state in MOVING, answer.get("tags") or {}, **more)]
