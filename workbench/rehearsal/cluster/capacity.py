"""Groups without capacity in the cloud for a time: the API server refuses the nodes that the autoscaler creates.

One policy for the whole scenario reads their names from a ConfigMap. The API server applies a changed policy only once
a second, which is minutes of a scenario, but a changed parameter at once (kubernetes v1.36.3, ``policy_source.go`` and
``CollectParams`` of ``apiserver/pkg/admission/plugin/policy/generic``).
"""

from collections import Counter
from collections.abc import Iterable
from threading import Lock
from typing import Any, Final

from components.contract.labels import AnnotationKey
from workbench.rehearsal.cluster.simulated import Api

_NAME: Final = "igz-clusters-rehearsal-no-capacity"
_NAMESPACE: Final = "default"
_POLICIES: Final = "admissionregistration.k8s.io/v1"
_GROUP: Final = f"object.metadata.?annotations['{AnnotationKey.GROUP.value}'].orValue('')"


def capacity_objects() -> tuple[dict[str, Any], ...]:
    """Return what must exist, and be in force, before the scenario begins; every group has capacity then."""
    head = {"apiVersion": _POLICIES, "metadata": {"name": _NAME}}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["nodes"], "operations": ["CREATE"]}
    policy = {
        "failurePolicy": "Fail",
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [
            {
                "expression": f"!has(params.data) || !({_GROUP} in params.data)",
                "message": "InsufficientInstanceCapacity: the cloud has no capacity",
            }
        ],
    }
    binding = {
        "policyName": _NAME,
        "paramRef": {"name": _NAME, "namespace": _NAMESPACE, "parameterNotFoundAction": "Deny"},
        "validationActions": ["Deny"],
    }
    return (
        _without_capacity(()),
        {**head, "kind": "ValidatingAdmissionPolicy", "spec": policy},
        {**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": binding},
    )


class Capacity:
    """The groups for which the cloud starts no nodes; may be used from any thread.

    Parameters
    ----------
    api
        The API server, with ``capacity_objects``.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._refusals: Counter[str] = Counter()
        """Number of events that currently refuse nodes, by group."""
        self._lock = Lock()

    def lacks(self, group: str) -> bool:
        """Return whether the cloud currently starts no nodes of a group."""
        return self._refusals[group] > 0

    def refuse(self, groups: Iterable[str]) -> None:
        """Start no nodes of these groups until they are restored as often as they were refused."""
        self._change(groups, 1)

    def restore(self, groups: Iterable[str]) -> None:
        """End one refusal of each of these groups."""
        self._change(groups, -1)

    def _change(self, groups: Iterable[str], by: int) -> None:
        with self._lock:
            for group in groups:
                self._refusals[group] += by
            self._api.apply(_without_capacity(filter(self.lacks, self._refusals)))


def _without_capacity(groups: Iterable[str]) -> dict[str, Any]:
    metadata = {"name": _NAME, "namespace": _NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict.fromkeys(groups, "")}
