"""Finds what would stop an upgrade of nodes, or upgrade more than intended, before it begins."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.cli.cloud_run import CloudRun
from workbench.cli.console import PLAIN, errors
from workbench.engine.budgets import KINDS, budget_findings
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import CloudStack
from workbench.engine.cluster_components import created_groups, drained_groups, node_upgrades
from workbench.engine.in_cluster import recorded_cluster
from workbench.report.events import Stream
from workbench.system.errors import UserError


def upgrade_blockers(run: CloudRun, deployment: Mapping[str, Any], plan: Stream) -> Sequence[Blocker]:
    """Return why a plan must not change nodes: by the cloud, and by disruption budgets in the cluster.

    Prints budgets that would only slow the change down. A cluster that does not answer is only noted: the engine fails
    on it too.

    Parameters
    ----------
    deployment
        The stack's state, which records how to reach the cluster.
    """
    if not isinstance(run.cloud, CloudStack):
        return ()
    upgrades = node_upgrades(plan)
    if blockers := [*run.cloud.plan_blockers(upgrades, created_groups(plan))]:
        return blockers
    drained = drained_groups(plan)
    if not drained:
        return ()
    try:
        with recorded_cluster(deployment, run.session.whole_environment()) as api:
            items = json.loads(api.run("get", KINDS, "--all-namespaces", "-o", "json"))["items"] if api else []
    except UserError as error:
        errors.print(f"note: Disruption budgets could not be checked before the upgrade: {error.message}", **PLAIN)
        return ()
    found = budget_findings(run.cloud, drained, items)
    for note in found.notes:
        errors.print(f"note: {note}", **PLAIN)
    return found.blockers
