"""Waits until the API server enforces all admission policies that were applied."""

import time
from typing import Any, Final

from workbench.rehearsal.cluster.simulated import Api, ApiError, LostError

_NAME: Final = "igz-clusters-rehearsal-probe"
_SAID: Final = "the policies are in force"
_GROUP: Final = "admissionregistration.k8s.io/v1"
_SECONDS: Final = 60.0
"""Longest wait; a second is usual."""
_PAUSE: Final = 0.1

_MATCH: Final = {
    "resourceRules": [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["configmaps"],
            "operations": ["CREATE"],
            "resourceNames": [_NAME],
        }
    ]
}
_VALIDATING: Final[dict[str, Any]] = {
    "apiVersion": _GROUP,
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": _NAME},
    "spec": {
        "matchConstraints": _MATCH,
        "validations": [{"expression": f"!('{_NAME}' in object.data)", "message": _SAID}],
    },
}
_MUTATING: Final[dict[str, Any]] = {
    "apiVersion": _GROUP,
    "kind": "MutatingAdmissionPolicy",
    "metadata": {"name": _NAME},
    "spec": {
        "matchConstraints": _MATCH,
        "reinvocationPolicy": "Never",
        "mutations": [
            {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": f"Object{{data: {{'{_NAME}': 'seen'}}}}"},
            }
        ],
    },
}
_PROBE: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": _NAME, "namespace": "default"},
    "data": {"a": "b"},
}


def wait_until_in_force(api: Api, *, mutates: bool) -> None:
    """Wait until all admission policies that exist are in force.

    The API server reads policies and bindings from caches of its own, which lag behind. Two last policies show when
    they have caught up: one that changes a probe, and one that refuses the changed probe.

    Parameters
    ----------
    api
        The API server.
    mutates
        Whether it has mutating policies.

    Raises
    ------
    LostError
        They are not in force after a minute, or the server does not answer.
    """
    policies = [*([_MUTATING] if mutates else []), _VALIDATING]
    bindings = [_binding(each["kind"]) for each in policies]
    for each in (*policies, *bindings):
        api.apply(each)
    # Without mutating policies the probe has the key from the start.
    probe = _PROBE if mutates else {**_PROBE, "data": {_NAME: "seen"}}
    try:
        deadline = time.monotonic() + _SECONDS
        while not _is_refused(api, probe):
            if time.monotonic() > deadline:
                raise LostError(
                    "The API server of the rehearsal does not apply its admission policies.\nRehearse again."
                )
            time.sleep(_PAUSE)
    finally:
        for each in (*bindings, *policies):
            api.delete(api.path_of(each))


def _is_refused(api: Api, probe: dict[str, Any]) -> bool:
    try:
        api.create(probe)
    except ApiError as error:
        return _SAID in error.message
    api.delete(api.path_of(probe))
    return False


def _binding(kind: str) -> dict[str, Any]:
    spec: dict[str, Any] = {"policyName": _NAME}
    if kind == "ValidatingAdmissionPolicy":
        spec["validationActions"] = ["Deny"]
    return {"apiVersion": _GROUP, "kind": f"{kind}Binding", "metadata": {"name": _NAME}, "spec": spec}
