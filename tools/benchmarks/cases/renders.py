"""The offline render of a cloud's stack, over the first preview of an empty program."""

from typing import Final

from tools.benchmarks.arena import EMPTY, OWN_PACKS, Arena, Project
from tools.benchmarks.findings import Finding, ratios
from tools.benchmarks.pairs import Say, interleave
from workbench import stacks
from workbench.engine.render import rendering
from workbench.stacks.policy_overrides import detached
from workbench.system.paths import PROJECT_ROOT

STACKS: Final = ("dev", "prod")
"""Names of the stacks; none of them can be up without an account, so there is no unchanged preview to measure."""

ROUNDS = 3
OPTIONS: Final = {"": (), ", packs": OWN_PACKS}


def renders(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure every stack with and without packs; the empty program gets the same options."""
    empty = arena.scratch("empty-render", EMPTY)
    findings = []
    for stack in STACKS:
        with rendering(stacks.find(stack), arena.toolchain) as session:
            project = Project(session.pulumi, PROJECT_ROOT, detached(session.whole_environment()))
            commands = {}
            for words, packs in OPTIONS.items():
                commands[f"empty{words}"] = empty.preview(packs=packs)
                commands[f"{stack}{words}"] = project.preview(packs=packs)
            # The first stack warms the second up.
            series = interleave(commands, rounds or ROUNDS, say, warm_up=stack == STACKS[0])
        for words in OPTIONS:
            compared = ratios(series[f"{stack}{words}"], series[f"empty{words}"])
            findings.append(Finding(f"{stack}{words} / empty{words}", compared))
        findings.append(Finding(f"{stack}, packs / {stack}", ratios(series[f"{stack}, packs"], series[stack])))
    return findings
