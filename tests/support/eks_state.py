"""States of an EKS stack as a finished `up` leaves them."""

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any

from support.cloud_state import STACK, Live, deployment, urn
from support.eks import ADDON, CLUSTER, KEY, NODE_GROUP, build, built
from support.recorder import Recorder
from workbench.engine.clouds.cluster_component import ClusterComponent
from workbench.engine.cluster_components import components_of_state

__all__ = ["STACK", "Live", "components", "exported", "urn"]


def exported(changes: dict[str, Any] | None = None, live: Live | None = None) -> dict[str, Any]:
    """Return the deployment of the stack with ``changes``, after a refresh found ``live``."""
    recorder = _changed(json.dumps(changes)) if changes else built()
    version = next(iter(recorder.of_type(CLUSTER).values()))["version"]

    def added(type_: str, name: str, _: dict[str, Any]) -> dict[str, Any]:
        return {
            CLUSTER: {"status": "ACTIVE"},
            NODE_GROUP: {"status": "ACTIVE", "version": version, "nodeGroupName": f"{name}-0a1b2c3"},
            ADDON: {"addonVersion": "v1.0.0-eksbuild.1"},
            KEY: {"arn": f"arn:{KEY}:{name}"},
        }.get(type_, {})

    return deployment(recorder, live or {}, added)


@lru_cache(maxsize=2)
def _changed(changes: str) -> Recorder:
    return build(json.loads(changes))


@lru_cache(maxsize=1)
def _parts() -> tuple[ClusterComponent, ...]:
    return tuple(components_of_state(exported()))


def components(live: Live | None = None) -> list[ClusterComponent]:
    """Return the parts of the unchanged stack, of which ``live`` differs. Quick, for tests with many examples."""
    differs = live or {}
    return [
        replace(part, outputs={**part.outputs, **differs[part.logical_name]}) if part.logical_name in differs else part
        for part in _parts()
    ]
