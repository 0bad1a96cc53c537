"""Policy packs: none, one with a single rule that checks nothing, all of ours in one process, and in one each."""

from tools.benchmarks.arena import INFRA, OWN_PACKS, SEPARATE_PACKS, Arena
from tools.benchmarks.cases.growth import namespaces
from tools.benchmarks.findings import Aim, Finding, ratios
from tools.benchmarks.pairs import Say, interleave

ROUNDS = {100: 5, 1000: 3}
"""Rounds by the number of resources."""
AIMS = {100: Aim("CPU", 1.25, "our packs over none, 100 resources")}


def packs(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure first previews on an empty state."""
    findings = []
    for size, own_rounds in ROUNDS.items():
        config = namespaces(size)
        # The SDK does not flush the line for which the engine waits; our packs do so themselves.
        project = arena.scratch(f"packs-{size}", INFRA, config=config, PYTHONUNBUFFERED="1")
        commands = {
            f"{size} resources, no pack": project.preview(),
            f"{size} resources, no-op pack": project.preview(packs=arena.no_op_packs),
            f"{size} resources, our packs": project.preview(packs=OWN_PACKS),
            f"{size} resources, a process each": project.preview(packs=SEPARATE_PACKS),
        }
        # The smaller size warms the larger one up.
        measured = interleave(commands, rounds or own_rounds, say, warm_up=size == min(ROUNDS))
        none, no_op, own, separate = measured.values()
        findings += [
            Finding(f"{size} resources: our packs / none", ratios(own, none), AIMS.get(size)),
            Finding(f"{size} resources: no-op pack / none", ratios(no_op, none)),
            Finding(f"{size} resources: our packs / no-op pack", ratios(own, no_op)),
            Finding(f"{size} resources: a process each / none", ratios(separate, none)),
        ]
    return findings
