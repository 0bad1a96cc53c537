"""The cluster of one stack, with everything that is done there beside the engine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE
from components.contract.existing.config import ExistingConfig
from workbench.engine.kubectl import Api, kubectl
from workbench.engine.session import Session
from workbench.existing import collisions, live, preflight, taints
from workbench.existing.identity import identify, refuse_another
from workbench.existing.preflight import Blocker, Seen
from workbench.report.events import Stream
from workbench.stacks import Stack
from workbench.system.errors import UserError
from workbench.system.files import write_private
from workbench.system.paths import PRIVATE, data_dir

_PATCH: Final = "Patch"


@dataclass(frozen=True)
class Existing:
    """A cluster that is the stack's own: `open_existing` has asked it who it is.

    Parameters
    ----------
    stack
        The stack.
    choices
        What its file says about the cluster.
    api
        The way in.
    """

    stack: Stack
    choices: ExistingConfig
    api: Api = field(repr=False)

    def inspect(self, deployment: Mapping[str, Any]) -> Seen:
        """Look at the cluster, and compare it with the stack file.

        Parameters
        ----------
        deployment
            The stack's state, which tells what is its own.

        Raises
        ------
        UserError
            Something there stands in the way; with all of it.
        """
        resources = [group.gpu_resource for group in self.stack.config.groups if group.gpu_resource]
        read = live.read(self.api, next(iter(resources), None))
        seen = preflight.inspect(self.stack.config, read, made_by(deployment))
        self._refuse(seen.refused)
        return seen

    def refuse_collisions(self, stream: Stream, deployment: Mapping[str, Any]) -> None:
        """Refuse a plan that would take over somebody else's object.

        Raises
        ------
        UserError
            It would; with all of them.
        """
        self._refuse(collisions.collisions(self.api, stream, made_by(deployment)))

    def _refuse(self, refused: "list[Blocker] | tuple[Blocker, ...]") -> None:
        if refused:
            count = "1 thing" if len(refused) == 1 else f"{len(refused)} things"
            listed = "\n".join(map(str, refused))
            raise UserError(
                f"{count} in the cluster of '{self.stack.name}' in the way:\n{listed}", "Nothing was changed."
            )

    def session(self, session: Session, seen: Seen) -> Session:
        """Return the session in which the program knows what was seen."""
        folder = data_dir() / "sightings"
        folder.mkdir(exist_ok=True, mode=PRIVATE)
        # Stacks of one name may be in several backends, each about a cluster of its own.
        file = folder / f"{self.stack.name}-{self.choices.cluster_id}.json"
        write_private(file, seen.sighting.to_json())
        return replace(session, environment={**session.environment, INVENTORY_VARIABLE: str(file)})

    def change_taints(self, seen: Seen) -> Iterator[str]:
        """Give and take the taints that were found to differ; yield what was done.

        Raises
        ------
        UserError
            A node refuses; those before it are done.
        """
        for change in seen.taints:
            yield str(taints.perform(self.api, change.node, seen.wanted_taints.get(change.node, ())))

    def drop_taints(self) -> Iterator[str]:
        """Take away every taint that we added, from every node; yield what was done."""
        for node in live.nodes(self.api):
            if taints.ours_on(node):
                yield str(taints.perform(self.api, node.name, ()))

    def ghosts(self, seen: Seen) -> list[str]:
        """Return the nodes that went away between the look and the change: labels made an empty object of each."""
        now = {node.name: node for node in live.nodes(self.api)}
        return [name for name, uid in seen.uids.items() if name in now and now[name].uid != uid]


def made_by(deployment: Mapping[str, Any]) -> frozenset[str]:
    """Return the UIDs of the objects that a state calls made by its stack, not those that it only adds to."""
    return frozenset(
        str(uid)
        for each in deployment.get("resources") or ()
        if each["type"].startswith("kubernetes:") and not each["type"].endswith(_PATCH)
        if (uid := ((each.get("outputs") or {}).get("metadata") or {}).get("uid"))
    )


def api_of(context: str, kubeconfig: str | None, environment: Mapping[str, str]) -> Api:
    """Return the way into the cluster of a context."""
    return Api(kubectl(), Path(kubeconfig).expanduser() if kubeconfig else None, environment, context)


def open_existing(stack: Stack, environment: Mapping[str, str]) -> Existing | None:
    """Return the stack's cluster after it said who it is; None for a stack that makes its cluster itself.

    Parameters
    ----------
    environment
        Variables with which the engine runs: kubectl must land where its plug-in does.

    Raises
    ------
    UserError
        The cluster does not answer, or is another one, or another stack works in it.
    """
    choices = stack.config.cluster
    if not isinstance(choices, ExistingConfig):
        return None
    api = api_of(choices.context, choices.kubeconfig, environment)
    refuse_another(identify(api), wanted=choices.cluster_id, context=choices.context, stack=stack.name)
    return Existing(stack, choices, api)
