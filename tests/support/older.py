"""Control planes of Kubernetes before 1.36 with what a stack declares on clusters whose API server adds no places.

``igz-clusters up`` knows that local clusters are newer, so the program's objects are created directly.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final
from unittest.mock import patch

from components.contract.ownership import FIELD_MANAGER
from support.admission import Manifest
from support.api import Api
from support.cluster import emulate, eventually
from support.recorder import record
from workbench.local import Instance
from workbench.local.programs import PROGRAMS
from workbench.toolchain.recipes import KUBERNETES_VERSION

CURRENT: Final = KUBERNETES_VERSION.rpartition(".")[0]
"""The minor of local clusters."""

OLDER: Final = "1.35"
"""The minor that stands for them."""

_LAST: Final = ("PolicyParameters", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


def objects_of(program: Callable[[], None]) -> list[Manifest]:
    """Return the Kubernetes objects that a Pulumi program declares, in an order in which they can be created."""
    found = [
        each.inputs
        for each in record(program).resources
        if each.type.startswith("kubernetes:") and not each.type.endswith("Patch")
    ]
    # Whole numbers come back from the recorder as floats.
    text = json.dumps(found, default=str)
    manifests: list[Manifest] = json.loads(text, parse_float=lambda n: int(float(n)))
    return sorted(manifests, key=lambda each: _LAST.index(each["kind"]) + 1 if each["kind"] in _LAST else 0)


def create_all(api: Api, manifests: list[Manifest]) -> None:
    """Create objects, each as soon as the API server takes it, and wait until their policies are in force."""
    name, kind = "created-last", "ValidatingAdmissionPolicy"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "false", "message": name}]}
    last = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    bound = {"policyName": name, "validationActions": ["Warn"]}
    markers: list[Manifest] = [
        {**last, "kind": kind, "spec": spec},
        {**last, "kind": f"{kind}Binding", "spec": bound},
    ]
    for manifest in (*manifests, *markers):
        eventually(lambda manifest=manifest: _is_there(api, manifest))
    # The API server learns of policies in the order in which they were created.
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": "default"}}
    eventually(lambda: name in str(api.create(probe, dryRun="All").warnings))
    for manifest in reversed(markers):
        api.delete(manifest)


def _is_there(api: Api, manifest: Manifest) -> bool:
    answer = api.create(manifest, fieldManager=FIELD_MANAGER)  # by which the guard knows our objects
    return answer.accepted or answer.status == 409


def start_bare(data: Path, name: str, minor: str = CURRENT) -> Api:
    """Start an empty control plane below a data folder; ``local stop`` with the folder ends it."""
    from workbench.toolchain import ensure  # noqa: PLC0415 the unit tier must not need a toolchain

    if minor != CURRENT:
        emulate(data / "local" / name, minor)
    with patch.dict(os.environ, IGZ_CLUSTERS_DATA=str(data)):
        older = Instance(name)
        older.start(ensure([*PROGRAMS, "kubectl"]))
        return Api(Path(older.kubeconfig))
