"""Keeps the autoscaler in step with its node groups, and removes nodes whose group is gone."""

import time
from dataclasses import dataclass
from typing import Any

import yaml

from components.contract import autoscaler
from components.contract.labels import AnnotationKey
from workbench.local.child import Child
from workbench.local.endpoint import Endpoint

_GRACE = 10.0


@dataclass(frozen=True)
class Pools:
    """The node groups as configured in the cluster."""

    config: str
    templates: str

    @property
    def groups(self) -> frozenset[str]:
        """Names of the groups.

        Raises
        ------
        ValueError
            The texts are not valid input of the autoscaler's kwok provider.
        """
        try:
            key = yaml.safe_load(self.config)["nodegroups"]["fromNodeLabelKey"]
            documents = [each for each in yaml.safe_load_all(self.templates) if each]
            nodes = [node for each in documents for node in each.get("items", [each])]
            return frozenset(_group_of(node["metadata"]) or node["metadata"]["labels"][key] for node in nodes)
        except (yaml.YAMLError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"not readable: {error!r}") from error


class PoolKeeper:
    """Keeps the autoscaler in step with its node groups.

    Its kwok provider reads two ConfigMaps once, and exits when they are missing. So the keeper starts it when both
    exist, restarts it when they change, and stops it when they are gone. The nodes of a removed group are deleted, as
    in a cloud.

    Parameters
    ----------
    api
        The API server.
    autoscaler
        The process.
    """

    def __init__(self, api: Endpoint, autoscaler: Child) -> None:
        self._api = api
        self._autoscaler = autoscaler
        self._pools: Pools | None = None
        self._orphans_removed = False
        self._last_present = time.monotonic()

    def step(self) -> None:
        """Check the ConfigMaps once and act on changes."""
        listed = self._api.get(f"/api/v1/namespaces/{autoscaler.NAMESPACE}/configmaps")
        if listed is not None:  # None: the API server is unavailable
            self._follow(_pools(listed["items"]))
        if self._pools is not None:
            self._autoscaler.step()
        if not self._orphans_removed:
            self._orphans_removed = self._remove_orphans()

    def _follow(self, pools: Pools | None) -> None:
        now = time.monotonic()
        if pools is not None:
            self._last_present = now
        # Pulumi replaces a ConfigMap by deleting and creating it: a short absence must not delete all nodes.
        elif now - self._last_present < _GRACE:
            return
        if pools != self._pools:
            self._autoscaler.stop()
            self._pools = pools
            self._orphans_removed = False

    def _remove_orphans(self) -> bool:
        try:
            groups = self._pools.groups if self._pools else frozenset[str]()
        except ValueError:  # the autoscaler logs the error; never delete on a guess
            return True
        nodes = self._api.get("/api/v1/nodes")
        if nodes is None:
            return False
        for metadata in (node["metadata"] for node in nodes["items"]):
            group = _group_of(metadata)
            if group is not None and group not in groups:
                self._api.request("DELETE", f"/api/v1/nodes/{metadata['name']}")
        return True


def _group_of(metadata: Any) -> str | None:
    name: str | None = metadata.get("annotations", {}).get(AnnotationKey.GROUP)
    return name


def _pools(config_maps: list[Any]) -> Pools | None:
    data = {each["metadata"]["name"]: each.get("data", {}) for each in config_maps}
    config = data.get(autoscaler.CONFIG, {}).get("config")
    templates = data.get(autoscaler.TEMPLATES, {}).get("templates")
    return Pools(config, templates) if config and templates else None
