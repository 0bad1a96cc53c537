"""Checks in the cloud whether a cluster's Kubernetes API does not answer because the cluster sleeps."""

from collections.abc import Callable, Mapping
from typing import Any

from workbench.engine.asleep import Sleep, sleep_in
from workbench.engine.clouds.find import cloud_of
from workbench.stacks import Stack


def api_sleep(stack: Stack, deployment: Callable[[], Mapping[str, Any]]) -> Sleep | None:
    """Return the sleep that keeps the API of a cluster from answering; None if its API answers or never sleeps.

    Parameters
    ----------
    stack
        The stack.
    deployment
        Reads its state. It and the cloud are queried only for clusters with office hours whose API sleeps with them.

    Raises
    ------
    UserError
        The state cannot be read, or the cloud refuses the query.
    """
    cloud = cloud_of(stack.name, stack.config)
    if not (cloud.hours and cloud.api_sleeps):
        return None
    from workbench.recovery.cloud import open_account  # noqa: PLC0415 the cloud's SDK comes with it

    return sleep_in(cloud, deployment(), lambda parts: open_account(stack.name, stack.config.cluster).conditions(parts))
