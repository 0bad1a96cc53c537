"""Whether EKS can roll a control plane back: https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from components.contract.kubernetes_minors import calendar
from workbench.engine.clouds.cluster_component import minor
from workbench.engine.clouds.way_back import WayBack
from workbench.recovery.cloud.aws.queries import AwsQueries

WINDOW: Final = timedelta(days=7)
"""Time after an upgrade within which EKS can roll it back.

EKS counts from the end of the upgrade but reports its start, so the window computed here ends some minutes early.
"""

_CATEGORY: Final = "ROLLBACK_READINESS"


def way_back(queries: AwsQueries, now: datetime) -> WayBack:
    """Return whether the cluster can be rolled back to the version before its last upgrade, within ``WINDOW``.

    Raises
    ------
    UserError
        AWS does not answer or refuses the request.
    """
    name = queries.cluster
    cluster = queries.look_up("eks", "describe_cluster", name=name).get("cluster") or {}
    updates = [
        queries.look_up("eks", "describe_update", name=name, updateId=each)["update"]
        for each in queries.listed("eks", "list_updates", "updateIds", name=name)
    ]
    if not _is_undoable(updates, cluster.get("version", ""), now):
        return WayBack()
    target = f"1.{minor(cluster['version']) - 1}"
    support = calendar("eks").get(target)
    if support and support.ends and support.ends < now.date():
        # EKS then requires the support policy EXTENDED, and clusters of this package have STANDARD.
        return WayBack()
    insights = queries.listed("eks", "list_insights", "insights", clusterName=name, filter={"categories": [_CATEGORY]})
    return WayBack(
        target,
        errors=tuple(_words(insights, "ERROR")),
        warnings=(*_words(insights, "WARNING"), *_words(insights, "UNKNOWN")),
    )


def _is_undoable(updates: Iterable[Mapping[str, Any]], version: str, now: datetime) -> bool:
    """Return whether the last change of the version was an upgrade to ``version`` within the window."""
    kinds = ("VersionUpdate", "VersionRollback")
    done = [each for each in updates if each["status"] == "Successful" and each["type"] in kinds]
    last = max(done, key=lambda each: each["createdAt"], default=None)
    if last is None or last["type"] != kinds[0] or now - last["createdAt"] >= WINDOW:
        return False
    return any(each["type"] == "Version" and each["value"] == version for each in last["params"])


def _words(insights: Iterable[Mapping[str, Any]], status: str) -> Iterable[str]:
    for insight in insights:
        found = insight.get("insightStatus") or {}
        if found.get("status") == status:
            yield f"{insight.get('name', '?')}: {found.get('reason') or 'EKS reports no reason'}"
