"""The existing cluster of one stack, and the operations on it outside the engine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from components.contract.existing.config import ExistingConfig
from workbench.engine.collisions import created_by
from workbench.engine.conflict import require_none
from workbench.engine.kubectl import Api, kubectl
from workbench.engine.session import Session
from workbench.existing import live, preflight, taints
from workbench.existing.identity import identify, require_same_cluster
from workbench.existing.preflight import Inspection
from workbench.stacks import Stack


@dataclass(frozen=True)
class Existing:
    """A stack's existing cluster; `open_existing` has verified its identity.

    Parameters
    ----------
    stack
        The stack.
    choices
        The cluster section of its file.
    api
        Access to the cluster.
    """

    stack: Stack
    choices: ExistingConfig
    api: Api = field(repr=False)

    def inspect(self, deployment: Mapping[str, Any]) -> Inspection:
        """Compare the live cluster with the stack file.

        Parameters
        ----------
        deployment
            The stack's state, which shows which objects it created.

        Raises
        ------
        UserError
            The cluster conflicts with the stack file; lists all conflicts.
        """
        resources = [group.gpu_resource for group in self.stack.config.groups if group.gpu_resource]
        cluster = live.read(self.api, next(iter(resources), None))
        inspection = preflight.inspect(self.stack.config, cluster, created_by(deployment))
        require_none(self.stack.name, inspection.blockers)
        return inspection

    def session(self, session: Session, inspection: Inspection) -> Session:
        """Return a session that passes the cluster's inventory to the program."""
        return replace(session, inputs=replace(session.inputs, inventory=inspection.inventory.to_json()))

    def change_taints(self, inspection: Inspection) -> Iterator[str]:
        """Add and remove the taints that differ; yield each node's changes.

        Raises
        ------
        UserError
            The change of a node fails; earlier nodes are changed.
        """
        for change in inspection.taints:
            yield str(taints.perform(self.api, change.node, inspection.desired_taints.get(change.node, ())))

    def drop_taints(self) -> Iterator[str]:
        """Remove every taint that we added from every node; yield each node's changes."""
        for node in live.nodes(self.api):
            if taints.ours_on(node):
                yield str(taints.perform(self.api, node.name, ()))

    def replaced_nodes(self, inspection: Inspection) -> list[str]:
        """Return the nodes deleted between inspection and change: labelling recreated each as an empty object."""
        now = {node.name: node for node in live.nodes(self.api)}
        return [name for name, uid in inspection.uids.items() if name in now and now[name].uid != uid]


def api_of(context: str, kubeconfig: str | None, environment: Mapping[str, str]) -> Api:
    """Return access to the cluster of a context."""
    return Api(kubectl(), Path(kubeconfig).expanduser() if kubeconfig else None, environment, context)


def open_existing(stack: Stack, environment: Mapping[str, str]) -> Existing | None:
    """Return the stack's existing cluster after verifying its identity; None for other kinds of stacks.

    Parameters
    ----------
    environment
        The engine's environment variables: kubectl must reach the same cluster as the engine's plug-in.

    Raises
    ------
    UserError
        The cluster does not answer, is a different one, or belongs to another stack.
    """
    choices = stack.config.cluster
    if not isinstance(choices, ExistingConfig):
        return None
    api = api_of(choices.context, choices.kubeconfig, environment)
    require_same_cluster(identify(api), expected=choices.cluster_id, context=choices.context, stack=stack.name)
    return Existing(stack, choices, api)
