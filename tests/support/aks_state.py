"""States of an AKS stack as a finished `up` leaves them."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from support.aks import AGENT_POOL, CLUSTER, build, built
from support.cloud_state import STACK, Live, deployment, urn
from workbench.engine.clouds.cluster_component import ClusterComponent
from workbench.engine.cluster_components import components_of_state

__all__ = ["INITIAL", "STACK", "Live", "components", "exported", "urn"]

INITIAL = "test-cluster/initial"
"""The program's name for the pool that the cluster is made with; a key of ``Live`` too."""


def exported(changes: dict[str, Any] | None = None, live: Live | None = None) -> dict[str, Any]:
    """Return the deployment of the stack with ``changes``, after a refresh found ``live``."""
    recorder, differs = build(changes) if changes else built(), live or {}
    pools = recorder.of_type(AGENT_POOL).values()

    def added(type_: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        if type_ == AGENT_POOL:
            # The recorder knows no outputs that these come from.
            return {"resourceName": "research", "resourceGroupName": "research", **_pool(inputs)}
        if type_ != CLUSTER:
            return {}
        (initial,) = inputs["agentPoolProfiles"]
        # Azure lists all pools there.
        listed = [
            {**initial, **_pool(initial), **differs.get(INITIAL, {})},
            *({**p, "name": p["agentPoolName"]} for p in pools),
        ]
        version = f"{inputs['kubernetesVersion']}.2"
        place = {"resourceName": "research", "resourceGroupName": "research"}
        return {
            **place,
            "provisioningState": "Succeeded",
            "currentKubernetesVersion": version,
            "agentPoolProfiles": listed,
        }

    return deployment(recorder, differs, added)


def _pool(inputs: dict[str, Any]) -> dict[str, Any]:
    return {"provisioningState": "Succeeded", "currentOrchestratorVersion": f"{inputs['orchestratorVersion']}.2"}


@lru_cache(maxsize=1)
def _parts() -> tuple[ClusterComponent, ...]:
    return tuple(components_of_state(exported()))


def components(live: Live | None = None) -> list[ClusterComponent]:
    """Return the parts of the unchanged stack, of which ``live`` differs. Quick, for tests with many examples."""
    differs = live or {}
    return [
        replace(part, outputs={**part.outputs, **differs[part.program_name]}) if part.program_name in differs else part
        for part in _parts()
    ]
