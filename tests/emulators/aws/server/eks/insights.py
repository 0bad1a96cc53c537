"""What EKS says about the readiness of a cluster to go back to the version before its last upgrade.

https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html. Names of insights and their words are assumed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from emulators.aws.server.eks import versions
from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.store import Cluster, Request, Store

CATEGORY = "ROLLBACK_READINESS"


class Insights:
    """ListInsights, of the one category that the emulator has."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {"ListInsights": self.list}

    def list(self, request: Request) -> dict[str, Any]:
        """Return the insights that the filter leaves; a cluster that cannot go back has none."""
        cluster, wanted = self._store.cluster(request["clusterName"]), request.get("filter") or {}
        found = [*insights(cluster, self._store.circumstances.insights)]
        for key, member in (("categories", "category"), ("kubernetesVersions", "kubernetesVersion")):
            found = [each for each in found if each[member] in wanted.get(key, (each[member],))]
        statuses = wanted.get("statuses")
        found = [each for each in found if not statuses or each["insightStatus"]["status"] in statuses]
        return page(request, "insights", found)


def insights(cluster: Cluster, given: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Return what EKS has found about a cluster that can go back.

    Parameters
    ----------
    given
        Statuses of further insights, by name.
    """
    if not versions.can_go_back(cluster):
        return
    target = versions.minor(cluster.version) - 1
    groups = any(versions.minor(group.body["version"]) > target for group in cluster.groups.values())
    proxy = cluster.addons.get("kube-proxy")
    is_ahead = proxy is not None and versions.minor(proxy.body["addonVersion"].removeprefix("v")) > target
    statuses = {
        "Kubelet version skew": "ERROR" if groups else "PASSING",
        "kube-proxy version skew": "ERROR" if is_ahead else "PASSING",
        **given,
    }
    for name, status in statuses.items():
        yield {
            "id": name.lower().replace(" ", "-"),
            "name": name,
            "category": CATEGORY,
            "kubernetesVersion": f"1.{target}",
            "insightStatus": {"status": status, "reason": f"{name}: {status.lower()}"},
        }


def errors(cluster: Cluster, given: Mapping[str, str]) -> list[str]:
    """Return the names of the insights for which EKS refuses the way back; the other statuses do not matter."""
    return [each["name"] for each in insights(cluster, given) if each["insightStatus"]["status"] == "ERROR"]
