"""Our components over a hand-written program that declares the same resources."""

from infra.config import CONFIG_KEY
from tools.benchmarks.arena import INFRA, PLAIN, Arena
from tools.benchmarks.cases.previews import STACKS
from tools.benchmarks.findings import Aim, Finding, ratios
from tools.benchmarks.pairs import Say, interleave
from tools.benchmarks.recording import record
from workbench import stacks

ROUNDS = 5
AIM = Aim("CPU", 1.10, "our components over a hand-written program with the same resources")


def components(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure first previews on an empty state, and the Python process alone, without an engine."""
    findings = []
    for stack in STACKS:
        config = stacks.find(stack).document["config"][CONFIG_KEY]
        resources = record(arena, config, arena.folder / f"components-{stack}.json")
        commands = {
            f"{stack}": arena.scratch(f"components-{stack}", INFRA, config=config).preview(),
            f"{stack}, by hand": arena.scratch(f"by-hand-{stack}", PLAIN, **resources.variables).preview(),
            f"{stack}, Python only": arena.offline(INFRA, config=config),
            f"{stack}, by hand, Python only": arena.offline(PLAIN, **resources.variables),
        }
        # The first stack warms the second up.
        series = interleave(commands, rounds or ROUNDS, say, warm_up=stack == STACKS[0])
        findings += [
            Finding(f"{stack} / by hand", ratios(series[f"{stack}"], series[f"{stack}, by hand"]), AIM),
            Finding(
                f"{stack} / by hand, Python only",
                ratios(series[f"{stack}, Python only"], series[f"{stack}, by hand, Python only"]),
            ),
        ]
    return findings
