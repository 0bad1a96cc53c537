"""Recognises the role and the binding that the MPI operator creates and deletes with a job.

kubeflow/mpi-operator v0.3.0, ``pkg/controllers/v1/mpi_job_controller.go``: ``newLauncherRole`` and
``newLauncherRoleBinding``. An owner reference alone proves nothing, since the author of an object sets it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from workbench.engine.live_objects import LiveObject

_KIND: Final = "MPIJob"
_LAUNCHER: Final = "{}-launcher"
_WORKER: Final = r"{}-worker-\d+"
_WATCH: Final = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
_ENTER: Final = {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]}


def is_of_job(live: LiveObject) -> bool:
    """Return whether a role or binding is exactly what the operator creates: it allows and binds nothing else.

    The role of a job without workers is not: it names no pods, so it allows ``exec`` in every pod of the namespace.
    """
    owners = live.content["metadata"].get("ownerReferences") or ()
    job = next((str(each["name"]) for each in owners if each.get("controller") and each["kind"] == _KIND), None)
    if job is None or live.name != _LAUNCHER.format(job):
        return False
    if live.kind == "Role":
        return _is_role(live.content, job)
    return live.kind == "RoleBinding" and _is_binding(live)


def _is_role(role: Mapping[str, Any], job: str) -> bool:
    rules = role.get("rules") or ()
    pods: Sequence[str] = (rules[-1].get("resourceNames") or ()) if rules else ()
    worker = re.compile(_WORKER.format(re.escape(job)))
    return bool(pods) and rules == [_WATCH, {**_ENTER, "resourceNames": pods}] and all(map(worker.fullmatch, pods))


def _is_binding(live: LiveObject) -> bool:
    role, subjects = live.content.get("roleRef") or {}, live.content.get("subjects")
    account = {"kind": "ServiceAccount", "name": live.name, "namespace": live.namespace}
    return (role.get("kind"), role.get("name")) == ("Role", live.name) and subjects == [account]
