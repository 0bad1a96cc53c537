"""`igz-clusters handoff`: the specification for Iguazio's installer."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from components.contract.environments import ClusterKind, PlatformProfile, ServerOwner
from components.contract.existing.config import ExistingConfig
from workbench import stacks
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.options import AsJson, StackName
from workbench.system.errors import UserError


def handoff(
    stack: StackName,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FOLDER", help="Write STACK-handoff.md and STACK-handoff.yaml to FOLDER."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the specification for Iguazio's installer, if it makes the servers.

    For stacks with `servers: provazio`: node groups, labels, taints, protections, identities, and where application
    services run, as a page in Markdown to sign off; --output also writes it as data. It lists what the rules found in
    the stack file, and what to run after the installation. Reads files only; docs/handoff.md explains it.

    Exit code 1: the stack file is invalid, or a mandatory rule is violated.
    """
    found = stacks.find(stack)
    cluster = _for_the_installer(found)
    # Imported here: a stack that is not for the installer is refused before Pulumi's SDK is loaded.
    from workbench.engine.check import check  # noqa: PLC0415
    from workbench.existing.handoff import handed_over, page  # noqa: PLC0415

    checked = check(found)
    data = handed_over(found, cluster, checked)
    text = page(data)
    if output:
        _write(output, found.name, text, data)
    if as_json:
        out.print_json(json.dumps(data), ensure_ascii=True)
    elif not output:
        out.print(text, end="", **PLAIN)
    if checked.violations:
        errors.print(f"Do not sign it: mandatory rules are violated. See `igz-clusters check {found.name}`.", **PLAIN)
        raise typer.Exit(1)


def _for_the_installer(stack: stacks.Stack) -> ExistingConfig:
    config = stack.config
    if config.servers is ServerOwner.PROVAZIO and isinstance(config.cluster, ExistingConfig):
        return config.cluster
    if config.profile is not PlatformProfile.IGUAZIO:
        why = f"it has the profile {config.profile}, which has no installer of servers"
    else:
        why = f"it has servers: {config.servers}, so `igz-clusters up` makes them"
    raise UserError(
        f"There is nothing to hand over for stack '{stack.name}': {why}.",
        f"Name a stack with profile: {PlatformProfile.IGUAZIO}, servers: {ServerOwner.PROVAZIO} and cluster.kind: "
        f"{ClusterKind.EXISTING}; docs/handoff.md has one.",
    )


def _write(folder: Path, stack: str, text: str, data: dict[str, Any]) -> None:
    facts = yaml.safe_dump(data, sort_keys=False, width=120, allow_unicode=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, content in (("md", text), ("yaml", facts)):
            file = folder / f"{stack}-handoff.{suffix}"
            file.write_text(content)
            errors.print(f"Written: {file}", **PLAIN)
    except OSError as error:
        raise UserError(f"--output: cannot write to {folder}: {error.strerror}.") from None
