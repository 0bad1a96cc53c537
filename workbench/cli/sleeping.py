"""What commands do with a cluster that sleeps outside its office hours."""

from collections.abc import Sequence

from workbench.cli.cloud_run import CloudRun
from workbench.engine.asleep import sleep_blocker, sleep_of
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions
from workbench.system.errors import UserError


def require_awake(run: CloudRun, components: Sequence[ClusterComponent], conditions: Conditions) -> None:
    """Refuse to change a cluster that has no nodes outside its office hours, or is stopped.

    Raises
    ------
    UserError
        It sleeps, or is stopped.
    """
    if sleep := sleep_of(run.cloud, components, conditions):
        blocker, state = sleep_blocker(run.cloud, components, sleep), "sleeps" if sleep.hours else "is stopped"
        raise UserError(f"'{run.stack.name}' {state}:\n{blocker}", f"Nothing changed in {run.cloud.place}.")
