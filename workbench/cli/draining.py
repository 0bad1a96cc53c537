"""Names disruption budgets that would stop an upgrade, before it begins."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.cli.cloud_run import CloudRun
from workbench.cli.console import PLAIN, errors
from workbench.engine.budgets import KINDS, budget_findings
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import CloudStack
from workbench.engine.cluster_components import upgraded_groups
from workbench.engine.in_cluster import recorded_cluster
from workbench.report.events import Stream
from workbench.system.errors import UserError


def budget_blockers(run: CloudRun, deployment: Mapping[str, Any], plan: Stream) -> Sequence[Blocker]:
    """Return the budgets that would stop the upgrades of a plan; prints those that would slow them down.

    A cluster that does not answer is noted only: the engine meets it too.

    Parameters
    ----------
    deployment
        The stack's state, which records how to reach the cluster.
    """
    groups = upgraded_groups(plan)
    if not groups or not isinstance(run.cloud, CloudStack):
        return ()
    try:
        with recorded_cluster(deployment, run.session.whole_environment()) as api:
            items = json.loads(api.run("get", KINDS, "--all-namespaces", "-o", "json"))["items"] if api else []
    except UserError as error:
        errors.print(f"note: Disruption budgets could not be checked before the upgrade: {error.message}", **PLAIN)
        return ()
    found = budget_findings(run.cloud, groups, items)
    for note in found.notes:
        errors.print(f"note: {note}", **PLAIN)
    return found.blockers
