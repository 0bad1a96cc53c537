"""The preview of a stack that is up and unchanged, over the preview of an empty program."""

from pathlib import Path
from typing import Final

from tools.benchmarks.arena import EMPTY, OWN_PACKS, Arena
from tools.benchmarks.findings import Aim, Finding, ratios
from tools.benchmarks.pairs import Say, interleave

STACKS: Final = ("local", "local-prod")
"""Names of the stacks; each must be one that ``Arena.running`` can bring up."""

ROUNDS = 4
AIM = Aim("CPU", 2.0, "unchanged preview over an empty program's")

OPTIONS: Final[dict[str, tuple[bool, tuple[Path, ...]]]] = {
    "": (False, ()),
    ", refresh": (True, ()),
    ", refresh, packs": (True, OWN_PACKS),
}
"""Whether to refresh, and which packs. The last is what ``igz-clusters preview`` does."""


def previews(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure every stack with and without refresh and packs; the empty program gets the same options."""
    empty = arena.scratch("empty", EMPTY)
    findings = []
    for stack in STACKS:
        say(f"{stack}: bringing it up")
        with arena.running(stack) as project:
            commands = {}
            for words, (refresh, packs) in OPTIONS.items():
                commands[f"empty{words}"] = empty.preview(refresh=refresh, packs=packs)
                commands[f"{stack}{words}"] = project.preview("--expect-no-changes", refresh=refresh, packs=packs)
            # The first stack warms the second up.
            series = interleave(commands, rounds or ROUNDS, say, warm_up=stack == STACKS[0])
        for words in OPTIONS:
            compared = ratios(series[f"{stack}{words}"], series[f"empty{words}"])
            findings.append(Finding(f"{stack}{words} / empty{words}", compared, AIM))
        _, without_packs, as_shipped = (f"{stack}{words}" for words in OPTIONS)
        findings += [
            Finding(f"{as_shipped} / empty", ratios(series[as_shipped], series["empty"])),
            Finding(f"{as_shipped} / {without_packs}", ratios(series[as_shipped], series[without_packs])),
        ]
    return findings
