"""The commands by name. Each is imported when it runs: ``--help`` imports none of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import typer
from typer._click import Command as ClickCommand
from typer._click import Context, HelpFormatter
from typer.core import TyperGroup
from typer.main import get_group
from typing_extensions import override


@dataclass(frozen=True)
class Command:
    """Location of a command.

    Parameters
    ----------
    target
        ``module:attribute`` below ``workbench.cli``: its function, or the Typer application that groups subcommands.
    help
        Its line in ``--help``: the first paragraph of its own help.
    context_settings
        Settings of its command. Default: none.
    """

    target: str
    help: str
    context_settings: dict[str, Any] | None = None


_PASSES_ON: Final[dict[str, Any]] = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
}
"""Settings of a command that passes its arguments on to another program."""


COMMANDS: Final[dict[str, Command]] = {
    "init": Command("init:init", "Create a repository for clusters of your own."),
    "check": Command("check:check", "Check stacks against all rules in seconds, without the engine."),
    "up": Command("stack:up", "Create or update a stack, with the policy packs attached."),
    "preview": Command("stack:preview", "Show what `up` would change; change nothing."),
    "destroy": Command("stack:destroy", "Delete everything that a stack created."),
    "drift": Command("drift:drift", "Report changes made outside Pulumi."),
    "verify": Command("verify:verify", "Compare a running cluster with what its stack demands."),
    "passport": Command("passport:app", "Sign what was verified of a cluster; compare the cluster with it later."),
    "rehearse": Command(
        "rehearse:rehearse",
        "Show how work will run on a stack, and what it costs, before the cluster exists.",
    ),
    "status": Command("status:status", "Show the pools of a stack: desired, recorded and live."),
    "env": Command("shell:env", "Print exports for plain `pulumi` and `kubectl`."),
    "kubeconfig": Command("shell:kubeconfig", "Print the value of KUBECONFIG for a stack's cluster."),
    "kubectl": Command("shell:kubectl", "Run kubectl on a stack's cluster.", _PASSES_ON),
    "values": Command(
        "values:values",
        "Print Helm values and settings of a system, such as MLRun CE, for the cluster of a stack.",
    ),
    "handoff": Command("handoff:handoff", "Print the specification for Iguazio's installer, if it makes the servers."),
    "review": Command("review:review", "Review a change before it is merged."),
    "report": Command("report:report", "Show and judge a planned or finished change."),
    "fleet": Command("fleet:app", "Run commands on many stacks, in waves."),
    "operator": Command(
        "operator:app", "Make and check the objects of the Pulumi Kubernetes Operator, from operator.yaml."
    ),
    "pulumi": Command(
        "pulumi:pulumi", "Take the place of `pulumi` for programs that call it, with all checks of `up`.", _PASSES_ON
    ),
    "accept": Command("accept:accept", "Test the whole life cycle of a stack on a copy, and record the results."),
    "backup": Command("backup:app", "List the backups and restores of a cluster; print how to restore one."),
    "recover": Command("recover:recover", "Repair what a killed run left behind."),
    "doctor": Command("doctor:doctor", "Check that this machine has everything the package needs."),
    "comment": Command("github:comment", "Post a review's report as a pull request comment."),
    "drift-issue": Command("github:drift_issue", "Open, update or close the GitHub issue about drift."),
    "config": Command("config:app", "Check stack files, explain keys, show the configuration."),
    "existing": Command("existing:app", "Identify existing clusters."),
    "local": Command("local:app", "Start, stop and show the control planes on this machine."),
    "policy": Command("policy:app", "List and explain the policies; check a state or examples against them."),
    "machines": Command("machines:machines", "List the machine types that the shapes of pools select."),
    "prices": Command("prices:app", "Show what the pools of a stack cost; read current prices."),
    "toolchain": Command("toolchain:app", "Build and show the pinned engine and control plane."),
}
"""In the order of the list."""

SETTINGS: Final[dict[str, Any]] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,  # wraps every paragraph once, shows flags without a type, and needs no import of rich
}
"""Settings of the command line and of each command in it."""


class Commands(Mapping[str, ClickCommand]):
    """All commands, imported one by one as they are looked up."""

    @override
    def __getitem__(self, name: str) -> ClickCommand:
        module, _, attribute = COMMANDS[name].target.partition(":")
        found = getattr(import_module(f"{__package__}.{module}"), attribute)
        parent = typer.Typer(add_completion=False, **SETTINGS)
        parent.callback()(lambda: None)  # makes a group of a parent with one command
        if isinstance(found, typer.Typer):
            parent.add_typer(found, name=name)
        else:
            parent.command(name, context_settings=COMMANDS[name].context_settings)(found)
        return get_group(parent).commands[name]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    @override
    def __len__(self) -> int:
        return len(COMMANDS)


class LazyGroup(TyperGroup):
    """The top-level command; listing its subcommands imports none of them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Commands()  # type: ignore[assignment] # typer adds none to it

    @override
    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in COMMANDS.items()])
