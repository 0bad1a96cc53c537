"""Admission policies with their bindings."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pulumi
from pulumi_kubernetes.admissionregistration.v1 import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from pulumi_kubernetes.apiextensions import CustomResource

from components.base import PlatformComponent
from components.contract.labels import TRUE, LabelKey
from components.ownership import owned

USER_NAMESPACES: Final = {"namespaceSelector": {"matchLabels": {LabelKey.USER_WORKLOADS.value: TRUE}}}
"""Scope of checks in user namespaces only."""


def declare(
    owner: PlatformComponent,
    name: str,
    spec: Mapping[str, Any],
    binding: Mapping[str, Any],
    *,
    after: Sequence[pulumi.Resource] = (),
) -> None:
    """Declare a policy of ``owner`` and its binding, under one name.

    The binding is created after its policy and deleted before it, so neither ever acts without the other.

    Parameters
    ----------
    spec
        Spec of the policy.
    binding
        Spec of the binding, without the name of the policy.
    after
        Resources that the policy depends on.
    """
    policy = ValidatingAdmissionPolicy(
        name, metadata=owned(name), spec=dict(spec), opts=owner.child(depends_on=list(after))
    )
    ValidatingAdmissionPolicyBinding(
        name,
        metadata=owned(name),
        spec={"policyName": name, **binding},
        opts=owner.child(depends_on=[policy]),
    )


def declare_mutation(owner: PlatformComponent, name: str, spec: Mapping[str, Any], patches: str) -> None:
    """Declare a mutation of ``owner`` and its binding, under one name.

    If a mutation fails, the object is passed on unchanged to the rules, which reject what must not run.

    Parameters
    ----------
    spec
        Which objects are mutated, and the variables.
    patches
        Expression for all JSON patches. One, because between two mutations the API server drops maps that are still
        empty.
    """
    mutation = {
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "Never",
        **spec,
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patches}}],
    }
    policy = _of_version_1(owner, name, "MutatingAdmissionPolicy", mutation)
    _of_version_1(owner, name, "MutatingAdmissionPolicyBinding", {"policyName": name}, policy)


def _of_version_1(
    owner: PlatformComponent, name: str, kind: str, spec: Mapping[str, Any], *after: pulumi.Resource
) -> CustomResource:
    # The SDK has no class for version v1 yet; it will have this type.
    return CustomResource(
        name,
        api_version="admissionregistration.k8s.io/v1",
        kind=kind,
        metadata=owned(name),
        spec=dict(spec),
        opts=owner.child(depends_on=list(after)),
    )


def variables(expressions: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the ``variables`` of a policy; each may use those before it."""
    return [{"name": name, "expression": expression} for name, expression in expressions.items()]


def resources(group: str, names: Sequence[str], *operations: str) -> dict[str, Any]:
    """Return one of a policy's ``resourceRules``, for version ``v1`` of an API group."""
    return {"apiGroups": [group], "apiVersions": ["v1"], "operations": list(operations), "resources": list(names)}
