"""What a stack demands of its cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from components.contract.groups import NodeGroup
from components.contract.mlrun import override_environment
from components.contract.systems.nuclio import platform_settings
from components.contract.systems.platform_cluster import PlatformCluster
from infra.config import StackConfig
from infra.config.platform_cluster import platform_cluster
from workbench.engine.asleep import WAKES_WITHIN, Sleep
from workbench.engine.clouds.find import cloud_of
from workbench.engine.live_objects import ObjectKey, key_of
from workbench.engine.pending import awaits_replacement
from workbench.engine.pool_status import cloud_names, recorded_groups
from workbench.report.pools import Group

_PATCH: Final = "Patch"


@dataclass(frozen=True)
class Contract:
    """What a stack demands.

    Parameters
    ----------
    stack
        Its name.
    config
        The stack file.
    deployment
        The stack's state, with the objects of the last `up`.
    mutates
        Whether the cluster's API server changes pods, for stack files that do not say. Default: it does not.
    """

    stack: str
    config: StackConfig
    deployment: Mapping[str, Any]
    mutates: bool = False

    @property
    def up(self) -> str:
        """The sentence that names the command which restores what is declared."""
        return f"Run `igz-clusters up {self.stack}`."

    @cached_property
    def declared(self) -> dict[ObjectKey, Mapping[str, Any]]:
        """Manifests of the objects that the state records, patched ones included; no Secrets."""
        manifests = {each["urn"]: each["inputs"] for each in self._recorded if each["inputs"]["kind"] != "Secret"}
        return {key_of(manifest): manifest for manifest in manifests.values()}

    @cached_property
    def patched(self) -> frozenset[ObjectKey]:
        """Objects of other owners, of which the stack declares single fields."""
        return frozenset(key_of(each["inputs"]) for each in self._recorded if each["type"].endswith(_PATCH))

    @cached_property
    def pools(self) -> dict[str, tuple[NodeGroup, ...]]:
        """The groups of each pool."""
        pools = dict.fromkeys(group.pool for group in self.config.groups)
        return {pool: tuple(group for group in self.config.groups if group.pool == pool) for pool in pools}

    @cached_property
    def groups_in_the_cloud(self) -> dict[str, str]:
        """Name of each group by the cloud's name for it."""
        return cloud_names(self.deployment)

    @cached_property
    def recorded(self) -> dict[str, Group]:
        """Groups of the last `up`, by name."""
        return recorded_groups(self.deployment)

    def unsettled(self, moment: datetime) -> str:
        """Return why numbers of nodes, and what waits for nodes, are not judged at a moment; empty if they are.

        A cluster that has nodes may be starting or stopping: schedules start and stop its groups one after another.
        """
        if not Sleep(cloud_of(self.stack, self.config).hours, moment).is_due:
            return ""
        return f"not judged outside cluster.officeHours and in their first {WAKES_WITHIN.seconds // 60} minutes"

    def platform(self, namespace: str) -> PlatformCluster:
        """Return what the systems in a namespace must know about the cluster."""
        return platform_cluster(self.config, namespace=namespace, mutates=self.mutates)

    def mlrun(self, namespace: str) -> dict[str, str]:
        """Return the variables of MLRun's API in a namespace."""
        it = self.platform(namespace)
        return override_environment(it.groups, it.spot_taint, it.pod_resources, it.mlrun, corrects=it.places_by_itself)

    def nuclio(self, namespace: str) -> dict[str, Any]:
        """Return the section ``kube`` of Nuclio's platform configuration in a namespace."""
        return platform_settings(self.platform(namespace))

    @property
    def _recorded(self) -> list[Mapping[str, Any]]:
        return [
            each
            for each in self.deployment.get("resources") or ()
            if each["type"].startswith("kubernetes:") and not each.get("delete") and not awaits_replacement(each)
            if (each.get("inputs") or {}).get("kind") and each["inputs"].get("metadata", {}).get("name")
        ]
