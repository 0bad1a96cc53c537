"""`igz-clusters operator`: objects for the Pulumi Kubernetes Operator."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from infra.config.problems import shown
from workbench import stacks
from workbench.cli.console import FAILED, PLAIN, errors, leave, out
from workbench.cli.options import AsJson
from workbench.cli.verdicts import errors_are_no_verdict
from workbench.fleet.model import AT_ONCE
from workbench.pulumi_operator import folder
from workbench.pulumi_operator.folder import Operated
from workbench.pulumi_operator.manifests import COMMIT_FORM, is_commit
from workbench.stacks import Stack, committed
from workbench.stacks.project import project_file
from workbench.system.errors import UserError
from workbench.system.paths import APP

app = typer.Typer(
    help=f"Make and check the objects of the Pulumi Kubernetes Operator, from {folder.FILE}.", no_args_is_help=True
)


@app.command()
def manifests(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of stacks. Default: all in a cloud.", metavar="[STACK]...")
    ] = None,
    *,
    commit: Annotated[
        str | None,
        typer.Option(
            metavar="SHA", help="Commit of the stack files. Default: for each stack the last that changed its files."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a file for each stack there. Default: print all.")
    ] = None,
) -> None:
    """Print or write the Stack objects of the stacks.

    The choices are in operator.yaml next to the stack files. A stack waits for those of all waves before it in
    fleet.yaml. The objects name commits: to update clusters, write them again and apply them.
    """
    operated = folder.read()
    chosen = {name: operated.stacks[name] for name in operated.chosen(names or ())}
    files = operated.files(_commits(chosen, commit))
    _say_left_out(operated, names or ())
    if not output:
        out.print("---\n".join(map(folder.text, files.values())).rstrip(), **PLAIN)
        return
    changed = folder.write(output, files)
    for file in changed:
        errors.print(f"wrote {file}", **PLAIN)
    if not changed:
        errors.print(f"{output} is up to date.", **PLAIN)


@app.command()
@errors_are_no_verdict()
def check(
    place: Annotated[Path, typer.Argument(help="Folder that `operator manifests --output` wrote.", metavar="DIR")],
    *,
    as_json: AsJson = False,
) -> None:
    """Compare a folder of objects with the stack files.

    Shows every field that is not as operator.yaml, fleet.yaml and the stack files say. Each object may name a commit of
    its own; unless the clone is shallow, a note names stacks whose files changed since. Exit code 1: they differ, 3:
    they could not be compared.
    """
    operated = folder.read()
    found = list(folder.differences(place, operated))
    if as_json:
        out.print_json(json.dumps({"folder": str(place), "differences": found}), ensure_ascii=True)
    else:
        for line in found:
            out.print(line, **PLAIN)
    if found:
        leave(FAILED)
    for name in folder.behind(place, operated):
        errors.print(
            f"note: {name}: the commit in its object lacks a change; `{APP} operator manifests` renews it.", **PLAIN
        )
    errors.print(f"The objects in {place} are those of {folder.FILE}.", **PLAIN)


def _say_left_out(operated: Operated, names: Sequence[str]) -> None:
    if names:
        return
    for name, why in operated.left_out.items():
        errors.print(f"note: {name} is left out: it {why}.", **PLAIN)
    plan = operated.plan
    if plan.at_once != AT_ONCE or any(wave.failures or wave.bake or wave.verify for wave in plan.waves):
        errors.print(
            f"note: the operator waits for earlier waves, but `atOnce`, `failures`, `bake` and `verify` of "
            f"{stacks.FLEET_FILE} apply to `fleet up` only.",
            **PLAIN,
        )


def _commits(found: Mapping[str, Stack], given: str | None) -> dict[str, str]:
    """Return the commit of each stack: the last one that changed its files, so that only changed stacks run again.

    Raises
    ------
    UserError
        ``given`` is no commit, or files of a stack differ from the current one.
    """
    if given is not None:
        if not is_commit(given):
            raise UserError(f"--commit: {COMMIT_FORM} (given: {shown(given)}).")
        return dict.fromkeys(found, given)
    project = project_file()  # the agent reads it in the same commit
    if problems := dict.fromkeys(line for stack in found.values() for line in committed.uncommitted(stack, project)):
        raise UserError("\n".join(problems), "The operator reads commits: commit and push, or name one: --commit SHA.")
    if committed.is_shallow(stacks.folder()):
        raise UserError(
            "This shallow clone does not show which commit last changed each stack.",
            "Fetch all (`git fetch --unshallow`, `fetch-depth: 0` of actions/checkout), or name one: --commit SHA.",
        )
    commits = {name: committed.last_commit(stack, project) for name, stack in found.items()}
    return {name: commit for name, commit in commits.items() if commit}
