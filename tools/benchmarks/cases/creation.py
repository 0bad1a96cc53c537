"""The first `up` of a cluster on the AWS emulator: how much longer than AWS itself needs, with how many calls."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from emulators.aws.client import Emulator, running
from emulators.aws.server.clock import SECONDS
from emulators.core.client import Call
from emulators.core.polling import PACE_VARIABLE
from infra.config import CONFIG_KEY
from tools.benchmarks.arena import Arena, Project
from tools.benchmarks.emulated import install_plug_in, make_owners_roles
from tools.benchmarks.findings import Aim, Finding, Value
from tools.benchmarks.measure import measure
from tools.benchmarks.pairs import Say, estimate
from workbench import stacks
from workbench.engine.render import offline, passed_on, project_of, with_noop_providers
from workbench.system.paths import PROJECT_ROOT

STACK: Final = "dev"
ROUNDS: Final = 1
"""Nearly all of the time is waiting, so further rounds would not change the result."""

SCALE: Final = 0.5
"""Real seconds for a second of AWS. An `up` without AWS's waits took 22 s on a busy machine: at this scale less than a
tenth of the path. At 0.01 it would be several times the path, and the ratio would measure the machine."""

TIMEOUT: Final = 900.0
"""Seconds that one `up` may take."""

TIME = Aim("wall / critical path", 1.25, "first `up` in AWS over its critical path")
CALLS = Aim("calls / least", 1.2, "changing AWS calls and waiting reads, over the minimum")

LEAST: Final = ("eks:CreateCluster", "eks:CreateAddon", "eks:CreateNodegroup", "eks:CreateAddon")
"""What cannot be made at the same time: a control plane, its CNI, nodes, and an add-on whose pods need nodes."""

MAKES: Final[Mapping[str, str]] = {
    "aws:ec2/natGateway:NatGateway": "ec2:CreateNatGateway",
    "aws:eks/addon:Addon": "eks:CreateAddon",
    "aws:eks/cluster:Cluster": "eks:CreateCluster",
    "aws:eks/nodeGroup:NodeGroup": "eks:CreateNodegroup",
}
"""The call that makes a resource, of those on which AWS works after it has answered."""

READS: Final = ("Describe", "Get", "List")
"""How operations begin that change nothing."""

LOOKS: Final = ("ec2:DescribeNatGateways", "eks:DescribeAddon", "eks:DescribeCluster", "eks:DescribeNodegroup")
"""What is called while one waits for what these make."""


@dataclass(frozen=True)
class Made:
    """What one `up` did."""

    wall: float
    """Seconds from the start of the engine to its end."""
    resources: Sequence[Mapping[str, Any]]
    """Of the state, in the order in which they were made."""
    calls: Sequence[Call]


def creation(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Make the stack at once, which shows the calls, and then in AWS's own time."""
    say("at once, for the calls")
    quick = _made(arena, "creation-at-once", scale=0)
    path = critical_path(quick.resources)
    findings = [Finding(f"{STACK}, at once", _calls(quick), CALLS)]
    turns = [_made(arena, f"creation-{turn}", scale=SCALE) for turn in _told(rounds or ROUNDS, say)]
    ratio: dict[str, Value] = {
        TIME.value: estimate([turn.wall / (path * SCALE) for turn in turns]),
        "AWS s on the path": round(path),
        "AWS s at least": sum(SECONDS[operation] for operation in LEAST),
        "AWS s in all": round(sum(own_time(each) for each in quick.resources)),
        "real s for one of AWS": SCALE,
        "wall s at once": quick.wall,
    }
    return [Finding(f"{STACK}, AWS takes its time", ratio, TIME), *findings]


def _told(rounds: int, say: Say) -> Iterator[int]:
    for turn in range(1, rounds + 1):
        say(f"in AWS's own time, round {turn} of {rounds}")
        yield turn


def own_time(resource: Mapping[str, Any]) -> float:
    """Return the seconds that AWS itself works on making a resource."""
    return float(SECONDS.get(MAKES.get(resource["type"], ""), 0))


def critical_path(resources: Sequence[Mapping[str, Any]]) -> float:
    """Return the seconds of AWS's own work along the longest chain of resources that wait for each other.

    Parameters
    ----------
    resources
        Of a state: each comes after what it depends on.
    """
    ends: dict[str, float] = {}
    for each in resources:
        provider = str(each.get("provider") or "").rpartition("::")[0]
        before = [each.get("parent"), provider, *each.get("dependencies", ())]
        ends[each["urn"]] = own_time(each) + max((ends.get(urn, 0.0) for urn in before if urn), default=0.0)
    return max(ends.values(), default=0.0)


def _calls(made: Made) -> dict[str, Value]:
    """Count the calls that create resources and wait for them; the minimum is one per resource and one read per wait.

    Reads of the plug-in that fill the state after creation are counted separately: no program can change them.
    """
    things = [each for each in made.resources if each["type"].startswith("aws:")]
    counted = Counter(call.operation for call in made.calls)
    waits = sum(own_time(each) > 0 for each in things)
    looks = sum(counted[operation] for operation in LOOKS)
    writing = sum(count for operation, count in counted.items() if not _reads(operation))
    return {
        CALLS.value: (writing + looks) / (len(things) + waits),
        "things": len(things),
        "waits": waits,
        "looks": looks,
        "calls that change": writing,
        "calls in all": len(made.calls),
        "refused": sum(bool(call.code) for call in made.calls if not _reads(call.operation)),
    }


def _reads(operation: str) -> bool:
    return operation.partition(":")[2].startswith(READS)


def _made(arena: Arena, name: str, scale: float) -> Made:
    with _account(arena, name, scale) as (emulator, project):
        last = max((call.number for call in emulator.calls()), default=0)
        took = measure(project.command("up", "--yes", "--skip-preview", "--suppress-outputs"), TIMEOUT).wall
        exported = subprocess.run(
            [project.pulumi, "stack", "export"],
            cwd=project.folder,
            env=dict(project.environment),
            capture_output=True,
            text=True,
            check=True,
        )
        return Made(took, json.loads(exported.stdout)["deployment"]["resources"], emulator.calls(last))


@contextmanager
def _account(arena: Arena, name: str, scale: float) -> Iterator[tuple[Emulator, Project]]:
    """Yield an emulator with the roles that the stack file names, and the stack in an empty state.

    The contents of the cluster are simulated, so that only AWS takes time.
    """
    folder = arena.folder / name
    folder.mkdir()
    stack = stacks.find(STACK)
    choices = stack.document["config"][CONFIG_KEY]
    environment = with_noop_providers(offline(STACK, choices, arena.toolchain, folder))
    install_plug_in(Path(environment["PULUMI_HOME"]))
    with running(scale=scale) as emulator:
        make_owners_roles(emulator, stack.config.cluster)
        pace = {PACE_VARIABLE: str(scale)} if scale else {}
        project = Project(
            arena.toolchain.pulumi, PROJECT_ROOT, {**passed_on(), **environment, **emulator.environment, **pace}
        )
        measure(Project(project.pulumi, project_of(folder), project.environment).command("stack", "init", STACK))
        yield emulator, project
