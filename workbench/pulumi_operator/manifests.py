"""The objects that make the Pulumi Kubernetes Operator update stacks, from ``operator.yaml`` and the waves.

Their fields and what the operator does with them: pulumi-kubernetes-operator v2.9.0, operator/api/pulumi/shared and
operator/internal/controller.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from workbench.fleet.file import Plan
from workbench.pulumi_operator.model import SET, OperatorFile, SecretKey
from workbench.stacks import Stack
from workbench.system.paths import APP

Manifest = dict[str, Any]

WORKSPACES: Final = "00-workspaces"
"""Name of the file with what all stacks share, which `kubectl apply --filename DIR` must read first."""

NAME_MAX: Final = 42
"""Length of a stack's name. The operator adds ``-workspace`` for a StatefulSet, and Kubernetes a hash of 10 digits
for a label of its pods: https://github.com/kubernetes/kubernetes/issues/64023.
"""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
COMMIT_FORM: Final = "must be a whole commit: 40 digits, 0 to 9 and a to f"

_MANAGED: Final = {"app.kubernetes.io/managed-by": APP}

_POD_SECURITY: Final = "pod-security.kubernetes.io/enforce"


def shared(choices: OperatorFile) -> list[Manifest]:
    """Return what all stacks of a folder share: the namespace and the service account of their pods."""
    metadata = {"name": choices.service_account, "namespace": choices.namespace, "labels": _MANAGED}
    annotations = choices.service_account_annotations
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": choices.namespace, "labels": {**_MANAGED, _POD_SECURITY: "restricted"}},
        },
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {**metadata, **({"annotations": dict(annotations)} if annotations else {})},
            **(
                {"imagePullSecrets": [{"name": name} for name in pulls]}
                if (pulls := choices.image_pull_secrets)
                else {}
            ),
        },
        {
            # A pod asks the API server who calls it: docs/migration.md of the operator.
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"{choices.namespace}:{choices.service_account}:auth-delegator", "labels": _MANAGED},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "system:auth-delegator",
            },
            "subjects": [
                {"kind": "ServiceAccount", "name": choices.service_account, "namespace": choices.namespace},
            ],
        },
    ]


def is_commit(value: object) -> bool:
    """Return whether a value can be that of ``commit`` in an object."""
    return isinstance(value, str) and _COMMIT.fullmatch(value) is not None


def stack_object(stack: Stack, choices: OperatorFile, commit: str, after: Iterable[str] = ()) -> Manifest:
    """Return the ``Stack`` object of a stack.

    Parameters
    ----------
    stack
        A stack in a cloud.
    choices
        The content of ``operator.yaml``.
    commit
        Commit of the stack file. A branch is not supported: with one, the operator does not wait for earlier waves.
    after
        Names of the stacks whose updates must have succeeded. Default: none.
    """
    spec: Manifest = {
        "stack": stack.name,
        "projectRepo": choices.repository,
        **({"repoDir": choices.directory} if choices.directory != "." else {}),
        "commit": commit,
        **({"gitAuth": {"accessToken": _secret(choices.git_token)}} if choices.git_token else {}),
        **({"backend": choices.backend} if choices.backend else {}),
        **_secrets_provider(stack),
        "serviceAccountName": choices.service_account,
        "envRefs": _environment(choices),
        **({"preview": True} if choices.preview else {}),
        **({"prerequisites": [{"name": name} for name in after]} if after else {}),
        # The state is in the backend; a workspace holds credentials and a copy of the repository.
        "workspaceReclaimPolicy": "Delete",
        "workspaceTemplate": {"spec": _workspace(choices)},
    }
    metadata = {"name": stack.name, "namespace": choices.namespace, "labels": _MANAGED}
    return {"apiVersion": "pulumi.com/v1", "kind": "Stack", "metadata": metadata, "spec": spec}


def predecessors(plan: Plan, known: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return for each stack of a wave those of ``known`` in all earlier waves.

    The wave before is not enough: an object that did not change succeeded already, so nothing would wait for the waves
    before that one.
    """
    found, before, chosen = dict[str, tuple[str, ...]](), tuple[str, ...](), set(known)
    for wave in plan.waves:
        names = tuple(name for name in wave.stacks if name in chosen)
        found |= dict.fromkeys(names, before)
        before = (*before, *names)
    return found


def _environment(choices: OperatorFile) -> Manifest:
    plain: Mapping[str, str] = {**SET, **choices.environment}
    literals = {name: {"type": "Literal", "literal": {"value": value}} for name, value in plain.items()}
    return literals | {name: _secret(key) for name, key in choices.secret_environment.items()}


def _secret(key: SecretKey) -> Manifest:
    return {"type": "Secret", "secret": {"name": key.secret, "key": key.key}}


def secrets_provider(stack: Stack) -> str:
    """Return with what a stack file says that its secrets are encrypted; empty if it does not say so."""
    return str(stack.document.get("secretsprovider") or "")


def _secrets_provider(stack: Stack) -> Manifest:
    """Return what a new stack encrypts its secrets with; the operator creates the stack in the backend."""
    provider = secrets_provider(stack)
    return {"secretsProvider": provider} if provider else {}


def _workspace(choices: OperatorFile) -> Manifest:
    amounts = {"cpu": choices.resources.cpu, "memory": choices.resources.memory}
    labels = {"podTemplate": {"metadata": {"labels": dict(choices.pod_labels)}}} if choices.pod_labels else {}
    return {
        "image": choices.image,
        "securityProfile": "restricted",
        "resources": {"requests": amounts, "limits": dict(amounts)},
        **labels,
    }
