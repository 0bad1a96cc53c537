"""`igz-clusters env`, `kubectl` and `kubeconfig`: work on a stack with plain `pulumi` and `kubectl`."""

import os
import shlex
from typing import Annotated

import typer

from components.contract.existing.config import ExistingConfig
from components.contract.policy_guard import GUARD_VARIABLE
from workbench import stacks
from workbench.cli.access import access, tools
from workbench.cli.cloud_run import started
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.options import Hermetic, StackName
from workbench.cli.stack import local_environment
from workbench.engine.cloud import cloud_session
from workbench.engine.kubectl import kubectl as find_kubectl
from workbench.stacks import Stack
from workbench.system.errors import UserError


def env(stack: StackName = "local", *, hermetic: Hermetic = False) -> None:
    """Print exports for plain `pulumi` and `kubectl`.

    For example: eval "$(igz-clusters env)"

    Puts both programs on PATH, names the stack, its file and its policy packs for `pulumi`, and its cluster for
    `kubectl`. Needs no login; as long as the state cannot be read, KUBECONFIG is missing and a note says why. Run it
    again after you edited the stack file. On an existing cluster it checks identity and nodes first, and plain `pulumi`
    then works with the nodes of that moment. Where `policyGuard` is `required`, only `igz-clusters up` updates clouds.
    """
    found = stacks.find(stack)
    variables = local_environment(found, hermetic=hermetic) if found.is_local else _elsewhere(found, hermetic=hermetic)
    folder = str(find_kubectl().parent)
    path = variables.get("PATH", os.environ.get("PATH", os.defpath)).split(os.pathsep)
    variables["PATH"] = os.pathsep.join(path if folder in path else [*path[:1], folder, *path[1:]])
    for name, value in variables.items():
        out.print(f"export {name}={shlex.quote(value)}", **PLAIN)


def _elsewhere(stack: Stack, *, hermetic: bool) -> dict[str, str]:
    """Return the variables for a stack in the user's own backend, which may not be ready yet."""
    session, cluster = cloud_session(stack, tools(hermetic=hermetic)), dict[str, str]()
    try:
        entered = access(stack, hermetic=hermetic)
        if not entered.api:
            errors.print(f"note: no KUBECONFIG: {entered.condition}. {entered.note}", **PLAIN)
        else:
            if entered.api.context:  # an existing cluster: the program needs the list of its nodes
                run = started(stack, hermetic=hermetic, events=None)
                session = run.looked(run.state()).session
            cluster["KUBECONFIG"] = entered.kubeconfig
    except UserError as error:
        if "`pulumi login`" not in error.hint:
            raise
        errors.print(f"note: no KUBECONFIG: {error}", **PLAIN)
    # Only `up` checks what an update in a cloud would lose. Empty, because another stack's may be exported.
    unguarded = {} if isinstance(stack.config.cluster, ExistingConfig) else {GUARD_VARIABLE: ""}
    return {**session.exported(), **unguarded, **cluster}


def kubeconfig(stack: StackName = "local", *, hermetic: Hermetic = False) -> None:
    """Print the value of KUBECONFIG for a stack's cluster.

    For example: export KUBECONFIG="$(igz-clusters kubeconfig dev)"

    In a cloud the file holds no secret: it calls the cloud's command line for a token. For an existing cluster the
    value is a list: a file that selects the context, then your own kubeconfig.
    """
    found = stacks.find(stack)
    entered = access(found, hermetic=hermetic)
    entered.required(found)
    out.print(entered.kubeconfig, **PLAIN)


def kubectl(
    context: typer.Context,
    stack: Annotated[str, typer.Argument(help="Name of the stack.", metavar="STACK")],
) -> None:
    """Run kubectl on a stack's cluster.

    For example: igz-clusters kubectl dev get nodes. Uses your own kubectl, else the built one. The exit code is that of
    kubectl.
    """
    found = stacks.find(stack)
    entered = access(found, hermetic=False)
    api = entered.required(found)
    environment = {**api.environment, "KUBECONFIG": entered.kubeconfig}
    out.file.flush()
    os.execve(api.program, [str(api.program), *context.args], environment)  # noqa: S606 no shell between us and kubectl
