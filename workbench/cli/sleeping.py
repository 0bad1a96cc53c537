"""What commands do with a cluster that sleeps outside its office hours."""

from collections.abc import Sequence

from workbench.cli.cloud_run import CloudRun
from workbench.engine.asleep import sleep_blocker, sleep_of
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions
from workbench.system.errors import UserError


def require_awake(run: CloudRun, components: Sequence[ClusterComponent], conditions: Conditions) -> None:
    """Refuse to change a cluster that has no nodes outside its office hours.

    Raises
    ------
    UserError
        It sleeps.
    """
    if sleep := sleep_of(run.cloud, components, conditions):
        blocker = sleep_blocker(run.cloud, components, sleep)
        raise UserError(f"'{run.stack.name}' sleeps:\n{blocker}", f"Nothing changed in {run.cloud.place}.")
