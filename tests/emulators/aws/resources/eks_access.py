"""EKS: who may enter a cluster, and the roles of its pods. Sources: internal/service/eks/*.go."""

from typing import Final

from emulators.aws.resources.kinds import Change, DescribeCall, Given, Kind, Params, Removal, Tagging
from workbench.offline.aws.operations import Request

_GONE: Final = frozenset({"ResourceNotFoundException"})
_ASSOCIATION: Final = {"clusterName": "{clusterName}", "associationId": "{id}"}
_ENTRY: Final = {"clusterName": "{clusterName}", "principalArn": "{principalArn}"}


def _whole_entry(given: Given) -> Params:
    """Return both members of an entry: what the program leaves out is sent as the state has it, an empty list clears.

    Source: resourceAccessEntryUpdate sends ``d.Get`` of both, which are Optional and Computed.
    """
    groups, name = (given.new.get(each, given.keys.get(each)) for each in ("kubernetesGroups", "userName"))
    return {"kubernetesGroups": list(groups or []), "username": name}


ENTRY: Final = Kind(
    noun="EKS Access Entry",
    id="{clusterName}:{principalArn}",
    keys=_ENTRY,
    look=DescribeCall("eks", "DescribeAccessEntry", _ENTRY, "accessEntry"),
    gone=_GONE,
    outputs={"accessEntryArn": "accessEntryArn", "createdAt": "createdAt", "modifiedAt": "modifiedAt"},
    changes=(
        Change(
            inputs=("kubernetesGroups", "userName"),
            request=Request("eks", "UpdateAccessEntry"),
            build=_whole_entry,
        ),
    ),
    tagging=Tagging("eks", "TagResource", "UntagResource", {"resourceArn": "{accessEntryArn}"}, "tags", "tagKeys"),
    removal=Removal((("eks", "DeleteAccessEntry", _ENTRY),)),
)

_POLICY: Final = {**_ENTRY, "policyArn": "{policyArn}"}

ASSOCIATION: Final = Kind(
    noun="EKS Access Policy Association",
    id="{clusterName}#{principalArn}#{policyArn}",
    look=DescribeCall(
        "eks",
        "ListAssociatedAccessPolicies",
        _ENTRY,
        "associatedAccessPolicies[?policyArn=='{policyArn}'] | [0]",
        shape="associatedAccessPolicies",
    ),
    gone=_GONE,
    outputs={"associatedAt": "associatedAt", "modifiedAt": "modifiedAt"},
    removal=Removal((("eks", "DisassociateAccessPolicy", _POLICY),)),
)

POD_IDENTITY: Final = Kind(
    noun="EKS Pod Identity Association",
    made="association.associationId",
    imported="{clusterName},{id}",
    keys=_ASSOCIATION,
    look=DescribeCall("eks", "DescribePodIdentityAssociation", _ASSOCIATION, "association"),
    gone=_GONE,
    outputs={"associationArn": "associationArn", "associationId": "associationId", "externalId": "externalId"},
    changes=(
        Change(
            inputs=("disableSessionTags", "policy", "roleArn", "targetRoleArn"),
            request=Request("eks", "UpdatePodIdentityAssociation"),
        ),
    ),
    tagging=Tagging("eks", "TagResource", "UntagResource", {"resourceArn": "{associationArn}"}, "tags", "tagKeys"),
    removal=Removal((("eks", "DeletePodIdentityAssociation", _ASSOCIATION),)),
)

KINDS: Final = {
    "aws:eks/accessEntry:AccessEntry": ENTRY,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": ASSOCIATION,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": POD_IDENTITY,
}
"""By type token."""
