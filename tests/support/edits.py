"""Stack documents with edits, as tests spell them."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

Changes = dict[str, Any]
"""New values by dotted path, as ``edited`` takes them; None removes."""


def edited(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of ``document`` with ``changes``, whose keys are dotted paths; None removes a key."""
    changed = deepcopy(dict(document))
    for path, value in changes.items():
        *parents, last = path.split(".")
        here = changed
        for key in parents:
            here = here.setdefault(key, {})
        here.pop(last, None)
        if value is not None:
            here[last] = deepcopy(value)  # what the caller shares stays as it is
    return changed


@dataclass(frozen=True)
class Edited:
    """A stack file, and edits of it."""

    document: Callable[[Changes], dict[str, Any]]
    """The stack's choices with changes."""
    base: Changes
    edits: Mapping[str, Changes]
    """What a person would call an edit, and the edit itself."""

    def choices(self, name: str) -> dict[str, Any]:
        """Return the stack's choices after an edit."""
        return self.document({**self.base, **self.edits[name]})


_AMOUNTS: Final = {"cpu": "3", "memory": "3Gi"}
_PEOPLE: Final = {"users": ["jane@example.com"]}
_STORE: Final = {"reason": "store", "cidrs": ["10.8.0.0/24"], "ports": [443]}


def edits_of_every_kind(base: Mapping[str, Any]) -> dict[str, Changes]:
    """Return an edit of each input that has nothing to do with the kind of cluster.

    Parameters
    ----------
    base
        The stack's choices: an elastic pool ``workload``, ``spot``, a static ``initial`` and ``data``, and the
        namespace ``jobs``.
    """
    pools, namespaces = base["pools"], base["namespaces"]
    one_more = pools["initial"]["size"]["min"] + 1
    return {
        "environment, from prod to dev": {"environment": "dev"},
        "profile, from mlrun-ce to iguazio": {"profile": "iguazio", "servers": "pulumi"},
        "policies.admission, from deny to warn": {"policies.admission": "warn"},
        "policies.documentation": {"policies.documentation": "https://wiki.example.com/policies"},
        "policies.approvedRegistries": {"policies.approvedRegistries": ["registry.example.com/"]},
        "policies.platformRegistries": {"policies.platformRegistries": ["registry.example.com/built/"]},
        "policies.jupyterServices": {"policies.jupyterServices": ["jupyter-reports"]},
        "policies.largestPool": {"policies.largestPool": 40},
        "policies.requiredTags": {"policies.requiredTags": ["environment"]},
        "policyGuard, from required to warn": {"policyGuard": "warn"},
        "people.itAdmins": {"people.itAdmins": _PEOPLE},
        "people.dataScientists": {"people.dataScientists": {"jobs": _PEOPLE}},
        "people.ci": {"people.ci": {"reads": _PEOPLE, "applies": {"jobs": _PEOPLE}}},
        "defaultPodResources": {"defaultPodResources": {"requests": _AMOUNTS, "limits": _AMOUNTS}},
        "platform.mlrun.preemptionMode": {"platform.mlrun.preemptionMode": "allow"},
        "platform.mlrun.pendingNotScheduled": {"platform.mlrun.pendingNotScheduled": "-1"},
        "platform.mlrun.executing": {"platform.mlrun.executing": "7d"},
        "platform.mlrun.autoMount": {"platform.mlrun.autoMount": {"type": "pvc", "parameters": {"pvc_name": "shared"}}},
        "platform.mlrun.registry": {"platform.mlrun.registry": {"url": "registry.example.com/ml"}},
        "namespaces, another order": {"namespaces": dict(reversed(namespaces.items()))},
        "namespaces, one more": {"namespaces.more": {}},
        "namespaces, one removed": {"namespaces.jobs": None},
        "namespaces, one renamed": {"namespaces.jobs": None, "namespaces.work": {}},
        "namespaces.jobs.coreServices": {"namespaces.jobs.coreServices": True},
        "namespaces.jobs.quota": {"namespaces.jobs.quota": {"cpu": "10", "memory": "40Gi"}},
        "namespaces.mlrun.mlrun": {"namespaces.mlrun.mlrun": {"executing": "7d"}},
        "namespaces.jobs.egressCidrs": {"namespaces.jobs.egressCidrs": ["10.99.0.0/16"]},
        "namespaces.jobs.egress": {"namespaces.jobs.egress": [_STORE]},
        "namespaces.jobs.apiServerCidrs": {"namespaces.jobs.apiServerCidrs": []},
        "pools, another order": {"pools": dict(reversed(pools.items()))},
        "pools, a new one": {
            "pools.more": {**pools["workload"], "size": {"min": 0, "max": 2}},
        },
        "pools, one removed": {"pools.spot": None},
        "pools, one renamed": {"pools.spot": None, "pools.cheap": pools["spot"]},
        "pools, the data pool renamed": {"pools.data": None, "pools.store": pools["data"]},
        "pools.initial.size": {"pools.initial.size": {"min": one_more, "max": one_more}},
        "pools.workload.size.max": {"pools.workload.size.max": 20},
        "pools.workload.size.min": {"pools.workload.size.min": 2},
        "pools.workload.size, from elastic to static": {"pools.workload.size": {"min": 5, "max": 5}},
        "pools.workload.officeHours": {
            "pools.workload.officeHours": {"from": "08:00", "to": "19:00", "timeZone": "UTC", "nightMin": 1},
            "pools.workload.size.min": 2,
        },
        "pools.workload.headroom": {"pools.workload.headroom": {"pods": 2, "cpu": "3", "memory": "12Gi"}},
        "pools.workload.prepullImages": {"pools.workload.prepullImages": ["nvcr.io/nvidia/pytorch:25.06-py3"]},
        "pools.workload.warmPool": {"pools.workload.warmPool": {"nodes": 2}},
        "pools.workload.upgrade": {"pools.workload.upgrade": {"nodes": 1, "order": "old-first"}},
        "pools.spot.role": {"pools.spot.role": "jupyter"},
        "pools.spot.lifecycle": {"pools.spot.lifecycle": None},
        "pools.spot.labels": {"pools.spot.labels": {"example.com/team": "other"}},
        "pools.spot.zonal": {"pools.spot.zonal": True},
        "pools.spot.shape": {"pools.spot.shape": {"vcpus": 8, "memoryGib": 32}},
        "pools.data.size": {"pools.data.size": {"min": 12, "max": 12}},
    }
