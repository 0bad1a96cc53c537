"""Who creates the objects of each kind of work, and the rights that they need."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from workbench.rehearsal.play import mpi_jobs

_RBAC: Final = "rbac.authorization.k8s.io"
_CORE_SERVICES: Final = "igz-clusters:core-services"
"""Cluster role of the stack that lets its holders install core services."""

_MPI_JOBS: Final = "igz-clusters-rehearsal-mpi-jobs"

SCIENTIST: Final = "igz-clusters-rehearsal-scientist"
"""A data scientist: may edit user namespaces."""

INSTALLER: Final = "igz-clusters-rehearsal-installer"
"""The person who installs the platform: administers user namespaces and may install core services."""

MLRUN: Final = "mlrun-api"
"""Service account of MLRun's API (mlrun/ce 44ef417e, ``charts/mlrun-ce/values.yaml``)."""

NUCLIO: Final = "nuclio"
"""Service account of Nuclio's controller and dashboard (same file)."""

HUB: Final = "hub"
"""Service account of JupyterHub (jupyterhub/zero-to-jupyterhub-k8s 5c5f5df7, ``templates/hub``)."""

SPARK_OPERATOR: Final = "spark-operator-controller"
"""Service account of the operator of Spark (kubeflow/spark-operator v2.5, ``charts/spark-operator-chart``)."""

SPARK_DRIVER: Final = "sparkapp"
"""Service account of Spark's drivers, which create executors (mlrun/ce 44ef417e, ``values.yaml``)."""

MPI_OPERATOR: Final = "mpi-operator"
"""Service account of the operator of MPI jobs (v3io/helm-charts, ``stable/mpi-operator``)."""

ARGO: Final = "argo"
"""Service account of Argo's controller (mlrun/ce 44ef417e, ``templates/pipelines``)."""

PIPELINE_RUNNER: Final = "pipeline-runner"
"""Service account of the pods of pipelines (same folder)."""

_ACCOUNTS: Final = (MLRUN, NUCLIO, HUB, SPARK_OPERATOR, SPARK_DRIVER, MPI_OPERATOR, ARGO, PIPELINE_RUNNER)


@dataclass(frozen=True)
class Author:
    """User and groups of a request; without a name the administrator."""

    user: str = ""
    groups: tuple[str, ...] = ()


ADMINISTRATOR: Final = Author()


def person(name: str) -> Author:
    """Return a person who has logged in."""
    return Author(name, ("system:authenticated",))


def account(name: str, namespace: str) -> Author:
    """Return a service account."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return Author(f"system:serviceaccount:{namespace}:{name}", groups)


def accounts(namespaces: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the service accounts and rights of all authors in these namespaces.

    The real charts give their accounts narrower rights; admission judges the author, not where the right to create
    pods comes from.
    """
    # The operator's chart installs the kind, and the right to use it.
    rule = {"apiGroups": [mpi_jobs.GROUP], "resources": [mpi_jobs.PLURAL], "verbs": ["create"]}
    yield {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": _MPI_JOBS}, "rules": [rule]}
    for where in namespaces:
        for name in _ACCOUNTS:
            yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": where}}
        yield _binding("accounts", "edit", "Group", f"system:serviceaccounts:{where}", where)
        yield _binding("mpi-jobs", _MPI_JOBS, "Group", f"system:serviceaccounts:{where}", where)
        yield _binding("scientist", "edit", "User", SCIENTIST, where)
        yield _binding("installer", "admin", "User", INSTALLER, where)
    yield _binding("installer", _CORE_SERVICES, "User", INSTALLER)


def _binding(name: str, role: str, kind: str, subject: str, where: str = "") -> dict[str, Any]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding" if where else "ClusterRoleBinding",
        "metadata": {"name": f"igz-clusters-rehearsal-{name}", **({"namespace": where} if where else {})},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _RBAC, "kind": kind, "name": subject}],
    }
