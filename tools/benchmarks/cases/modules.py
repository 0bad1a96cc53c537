"""What a program imports before it declares anything."""

from collections.abc import Iterable
from typing import Final

from infra.config import CONFIG_KEY
from tools.benchmarks.arena import EMPTY, INFRA, Arena
from tools.benchmarks.cases.previews import STACKS
from tools.benchmarks.findings import Aim, Finding, Value
from tools.benchmarks.pairs import Say, interleave
from tools.benchmarks.recording import observe
from workbench import stacks

ROUNDS = 7

SDKS: Final = {
    "local": {"pulumi_kubernetes"},
    "eks": {"pulumi_aws", "pulumi_kubernetes"},
    "aks": {"pulumi_azure_native", "pulumi_kubernetes"},
    "existing": {"pulumi_kubernetes"},
}
"""SDKs that a program may import, by kind of cluster."""

FOREIGN = "modules of unused clouds"
AIM = Aim(FOREIGN, 0, "modules of unused clouds imported")


def modules(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Count the modules of every stack's program, and compare it, without an engine, with an empty one."""
    findings = []
    for stack in STACKS:
        config = stacks.find(stack).document["config"][CONFIG_KEY]
        commands = {
            f"{stack}, Python only": arena.offline(INFRA, config=config),
            "empty, Python only": arena.offline(EMPTY),
        }
        imported, least = (observe(command)["modules"] for command in commands.values())
        own, floor = interleave(commands, rounds or ROUNDS, say).values()
        values: dict[str, Value] = {
            "modules": f"{len(imported)} / {len(least)}",
            FOREIGN: len(foreign(imported, stacks.find(stack).config.cluster.kind)),
            "CPU": own.over(floor, "cpu"),
            "CPU s": f"{own.median('cpu'):.2f} / {floor.median('cpu'):.2f}",
        }
        findings.append(Finding(f"{stack} / empty", values, AIM))
    return findings


def foreign(imported: Iterable[str], kind: str) -> set[str]:
    """Return the modules of SDKs that a cluster of this kind has no use for."""
    packages = {name: name.partition(".")[0] for name in imported}
    return {name for name, package in packages.items() if package.startswith("pulumi_") and package not in SDKS[kind]}
