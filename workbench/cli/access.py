"""Access to the cluster of a stack of any kind."""

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from workbench.cli.console import PLAIN, errors
from workbench.engine import cloud
from workbench.engine.backend import CorruptStateError, StateFiles
from workbench.engine.cloud import bare_session, deployment_of
from workbench.engine.cluster_components import kubeconfig_of
from workbench.engine.kubectl import Api, kubectl
from workbench.engine.pool_status import Condition
from workbench.existing import open_existing
from workbench.local import Instance
from workbench.stacks import Stack, stack_ownership
from workbench.system.errors import UserError
from workbench.system.files import write_private
from workbench.system.paths import PRIVATE, data_dir
from workbench.toolchain import Toolchain, ensure
from workbench.toolchain.console import progress

_NO_STACK: Final = re.compile("no stack named|no stack selected")
"""The engine's error for a stack that its backend does not have."""


@dataclass(frozen=True)
class Access:
    """A cluster, and what the state records about it.

    Parameters
    ----------
    condition, note
        Whether the cluster can be queried, and what to do if not.
    deployment
        The stack's state; empty if it records nothing.
    api
        The cluster; None if it cannot be queried.
    """

    condition: Condition
    note: str = ""
    deployment: Mapping[str, Any] = field(default_factory=dict)
    api: Api | None = None

    def required(self, stack: Stack) -> Api:
        """Return access to the cluster.

        Raises
        ------
        UserError
            The cluster is not created or is stopped.
        """
        if not self.api:
            raise UserError(f"The cluster of '{stack.name}': {self.condition}.", self.note)
        return self.api

    @property
    def kubeconfig(self) -> str:
        """The value of KUBECONFIG with which any kubectl reaches the cluster; empty if it cannot be queried."""
        api = self.api
        if not api:
            return ""
        files = str(api.kubeconfig) if api.kubeconfig else api.environment.get("KUBECONFIG", "~/.kube/config")
        if not api.context:
            return files
        # kubectl takes the current context from the first file that names one, so no credential is copied.
        chosen = _kept("context", api.context, yaml.safe_dump(_choosing(api.context)))
        return os.pathsep.join([str(chosen), os.path.expanduser(files)])  # noqa: PTH111 a list of paths


def access(stack: Stack, *, hermetic: bool) -> Access:
    """Return access to a stack's cluster; reads the state, and queries an existing cluster's identity.

    Raises
    ------
    UserError
        The state cannot be read, or the existing cluster does not answer or is another one.
    """
    return _local(stack) if stack.is_local else _elsewhere(stack, tools(hermetic=hermetic))


def tools(*, hermetic: bool) -> Toolchain:
    """Return the tools for a stack in a cloud, built if they are missing."""
    with progress(errors) as report:
        return ensure(cloud.TOOLS, hermetic=hermetic, progress=report)


def _local(stack: Stack) -> Access:
    deployment = dict[str, Any]()
    try:
        deployment = StateFiles(stack.name).deployment()
    except CorruptStateError as error:  # the cluster itself may work
        way = f"`igz-clusters recover {stack.name}` restores the last intact copy."
        errors.print(f"note: the state is damaged: {error}. {way}", **PLAIN)
    else:
        if not deployment.get("resources"):
            return Access(Condition.ABSENT, _up(stack, "creates"))
    if note := stack_ownership.check(stack):
        errors.print(f"note: {note}", **PLAIN)
    instance = Instance(stack.name)
    if not instance.status().running:
        return Access(Condition.STOPPED, _up(stack, "starts"), deployment)
    return Access(Condition.UP, "", deployment, Api(kubectl(), instance.kubeconfig, os.environ))


def _elsewhere(stack: Stack, toolchain: Toolchain) -> Access:
    session, creates = bare_session(stack, toolchain), _up(stack, "creates")
    environment = session.whole_environment()
    try:
        deployment = deployment_of(session)
    except UserError as error:
        if not _NO_STACK.search(error.message):
            raise
        deployment, creates = {}, f"Run `pulumi stack init {stack.name}`. Then {creates}"
    is_up, existing = bool(deployment.get("resources")), open_existing(stack, environment)
    if existing:
        api = existing.api
        return Access(Condition.UP, "", deployment, api) if is_up else Access(Condition.ABSENT, creates, {}, api)
    if not is_up:
        return Access(Condition.ABSENT, creates)
    if not (config := kubeconfig_of(deployment)):
        note = f"The state records no kubeconfig: the cluster is not finished. {_up(stack, 'finishes')}"
        return Access(Condition.UNREACHABLE, note, deployment)
    file = _kept(stack.name, str(stack.file), config)
    return Access(Condition.UP, "", deployment, Api(kubectl(), file, environment))


def _up(stack: Stack, what: str) -> str:
    return f"`igz-clusters up {stack.name}` {what} it."


def _choosing(context: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Config", "current-context": context}


def _kept(name: str, place: str, content: str) -> Path:
    """Write a kubeconfig without secrets to a file of its own and return its path."""
    folder = data_dir() / "kubeconfigs"
    folder.mkdir(exist_ok=True, mode=PRIVATE)
    file = folder / f"{name}-{hashlib.sha256(place.encode()).hexdigest()[:12]}"
    with suppress(OSError):
        if file.read_text() == content:
            return file
    write_private(file, content)
    return file
