"""Enters resources into the state that a change deletes and that the state has only as part of another resource."""

import json
from collections.abc import Mapping
from typing import Any

from workbench.cli.cloud_run import CloudRun
from workbench.cli.console import PLAIN, errors
from workbench.engine.cloud import state_of


def with_entered(run: CloudRun, deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a refreshed deployment after entering such a resource; the same one if there is none.

    Only the state changes: the plan that follows shows the deletion, which the guard judges.

    Raises
    ------
    UserError
        The backend refuses the state.
    """
    found = run.cloud.entered(deployment)
    if found is None:
        return deployment
    exported = state_of(run.session)
    run.session.output("stack", "import", stdin=json.dumps({**exported, "deployment": found}))
    names = {each["urn"] for each in found["resources"]} - {each["urn"] for each in deployment["resources"]}
    listed = ", ".join(sorted(name.rpartition("::")[2] for name in names))
    errors.print(f"Entered into the state, to be deleted after its successor is there: {listed}.", **PLAIN)
    return found
