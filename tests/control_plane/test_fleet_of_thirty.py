"""Twelve or thirty stacks of one base: Kubernetes is upgraded in three waves, through a refusal by AWS and a kill.

Most are on EKS, in one emulator, with what is in their clusters pretended. Two or four are local, on real control
planes: each takes a tenth of a core at rest and half a GiB to one, so thirty would leave two cores nothing for the
fleet.
"""

import json
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from emulators.core.faults import ErrorRule, KillRule, Moment
from infra.config import CONFIG_KEY
from support.aws_emulator import Account
from support.cluster import eventually
from support.minors import CHOSEN, OLDER
from workbench.engine.render import NO_CHECKPOINTS
from workbench.system.paths import PROJECT_ROOT

pytestmark = pytest.mark.control_plane

UPGRADE: Final = "eks:UpdateClusterVersion"
REFUSED: Final = "fleet-05"
REFUSAL: Final = ErrorRule(
    operation=UPGRADE, about=REFUSED, code="InvalidRequestException", message="The planted reason."
)

POOL: Final = "workload"
PATIENCE: Final = 3_600.0
"""Seconds for one command on all stacks."""

AS_FOR_USERS: Final = {"IGZ_CLUSTERS_VERBOSE": ""}


@dataclass(frozen=True)
class Size:
    """How many stacks there are in each wave, by numbers that count through all waves.

    Parameters
    ----------
    canary, early, rest
        Number of the last stack of each wave.
    local
        Numbers of the stacks that are local.
    killed
        Number of the stack during whose upgrade the command is killed: enough stacks follow to be waiting then.
    at_once
        Stacks at the same time.
    """

    canary: int
    early: int
    rest: int
    local: tuple[int, ...]
    killed: int
    at_once: int

    def names(self, after: int, last: int) -> tuple[str, ...]:
        """Return the names of the stacks after a number, up to another."""
        return tuple(f"fleet-{number:02}" for number in range(after + 1, last + 1))

    @property
    def stacks(self) -> tuple[str, ...]:
        return self.names(0, self.rest)

    @property
    def waves(self) -> dict[str, tuple[str, ...]]:
        early, rest = self.names(self.canary, self.early), self.names(self.early, self.rest)
        return {"canary": self.names(0, self.canary), "early": early, "rest": rest}

    @property
    def locals(self) -> tuple[str, ...]:
        return tuple(f"fleet-{number:02}" for number in self.local)

    @property
    def eks(self) -> tuple[str, ...]:
        return tuple(name for name in self.stacks if name not in self.locals)


TWELVE: Final = Size(canary=2, early=7, rest=12, local=(1, 8), killed=10, at_once=2)
THIRTY: Final = Size(canary=2, early=10, rest=30, local=(1, 3, 11, 12), killed=15, at_once=3)


@dataclass(frozen=True)
class Fleet:
    """The stacks, and the choices of the shipped `dev` that their base has."""

    account: Account
    choices: Mapping[str, Any]
    size: Size

    def declare(self, version: str, nodes: int) -> None:
        """Write the base: the version of Kubernetes on EKS, and for local stacks, which have none, a pool's maximum."""
        cluster = {key: value for key, value in self.choices["cluster"].items() if key not in ("kind", "name")}
        pools = {name: self.choices["pools"][name] for name in ("initial", POOL)}
        shared = {
            "profile": self.choices["profile"],
            "namespaces": self.choices["namespaces"],
            "pools": {**pools, "initial": {**pools["initial"], "size": {"min": 2, "max": 2}}},
        }
        layers = [
            {"settings": shared},
            {"kinds": ["eks"], "settings": {"cluster": {**cluster, "zones": ["a", "b"], "version": version}}},
            {"kinds": ["local"], "settings": {"pools": {POOL: {"size": {"max": nodes}}}}},
        ]
        base = yaml.safe_dump({"schemaVersion": 1, "layers": layers})
        (self.account.stacks / "Base.fleet.yaml").write_text(base)

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a command on the fleet, which must end with an exit code, and return what it printed."""
        process = self.account.start("fleet", *arguments, **AS_FOR_USERS, **NO_CHECKPOINTS)
        printed, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, printed
        return printed

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.account.run("fleet", "status", "--json", check=False).stdout)
        assert tuple(row["stack"] for row in found["stacks"]) == self.size.stacks
        return found

    def results(self) -> dict[str, str]:
        return {row["stack"]: row["result"] for row in self.report()["stacks"]}

    def finished(self) -> dict[str, bytes]:
        """Return the logs of the stacks that have ended well."""
        return {row["stack"]: Path(row["log"]).read_bytes() for row in self.report()["stacks"] if row["result"] == "ok"}

    def versions(self) -> set[str]:
        """Return the versions of all control planes and node groups on EKS."""
        eks, found = self.account.aws.api("eks"), set[str]()
        for name in self.size.eks:
            found.add(eks.describe_cluster(name=name)["cluster"]["version"])
            for group in eks.list_nodegroups(clusterName=name)["nodegroups"]:
                found.add(eks.describe_nodegroup(clusterName=name, nodegroupName=group)["nodegroup"]["version"])
        return found

    def maxima(self) -> set[int]:
        """Return the maximum of the pool that the state of each local stack records."""
        groups = [
            group
            for name in self.size.locals
            for group in json.loads(self.account.run("status", name, "--json").stdout)["groups"]
            if group["recorded"]["pool"] == POOL
        ]
        assert len(groups) == len(self.size.local)
        return {group["recorded"]["max"] for group in groups}


@pytest.fixture(
    params=[
        pytest.param(TWELVE, id="twelve", marks=pytest.mark.full),
        pytest.param(THIRTY, id="thirty", marks=pytest.mark.proofs),
    ]
)
def fleet(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    size: Size = request.param
    with Account.hollow(tmp_path, is_quick=True) as account:
        shipped = yaml.safe_load((PROJECT_ROOT / "Pulumi.dev.yaml").read_text())
        choices = shipped["config"][CONFIG_KEY]
        account.adopt(choices)
        waves = [{"name": name, "stacks": list(stacks)} for name, stacks in size.waves.items()]
        waves[-1]["stacks"] = ["*"]
        (account.stacks / "fleet.yaml").write_text(json.dumps({"atOnce": size.at_once, "waves": waves}))
        for name in size.stacks:
            cluster = {"kind": "local"} if name in size.locals else {"kind": "eks", "name": name}
            own = {"schemaVersion": 1, "base": "fleet", "environment": "dev", "cluster": cluster}
            document = {"config": {CONFIG_KEY: own}}
            if name in size.eks:
                account.make(name, document)
            else:  # the command makes it, in a backend of its own
                account.stack_file(name).write_text(yaml.safe_dump(document))
        try:
            yield Fleet(account, choices, size)
        finally:
            account.run("local", "stop", "--all")


def killed_while_one_is_upgraded(fleet: Fleet, stack: str) -> None:
    """Continue, and kill the command with all its processes once AWS has begun to upgrade a cluster."""
    emulator = fleet.account.emulator
    emulator.set_faults()
    run = fleet.account.start("fleet", "resume", "--yes", **AS_FOR_USERS)
    emulator.set_faults(
        KillRule(operation=UPGRADE, about=stack, times=1, pids=(run.pid,), moment=Moment.AFTER),
    )
    printed, _ = run.communicate(timeout=PATIENCE)
    emulator.set_faults()
    assert run.returncode == -signal.SIGKILL, printed[-4000:]


def test_an_upgrade_in_waves_stops_at_a_refusal_and_goes_on_after_a_kill(fleet: Fleet) -> None:
    size, canary, early, rest = fleet.size, *fleet.size.waves.values()
    (killed,) = size.names(size.killed - 1, size.killed)
    # Both are below 1.36, where a cluster gets new objects: `up` would ask the pretended API whose they are.
    fleet.declare(OLDER, nodes=3)
    fleet.run("up", "--yes", "--hermetic")
    assert fleet.results() == dict.fromkeys(size.stacks, "ok")
    assert (fleet.versions(), fleet.maxima()) == ({OLDER}, {3})
    last = fleet.account.last

    fleet.declare(CHOSEN, nodes=4)
    fleet.account.emulator.set_faults(REFUSAL)
    fleet.run("up", "--yes", "--hermetic", code=1)
    report, results = fleet.report(), fleet.results()
    assert report["state"] == "failed"
    assert {results[name] for name in canary} == {"ok"}
    assert {results[name] for name in early} == {"ok", "failed", "waiting"}
    (failed,) = (row for row in report["stacks"] if row["result"] == "failed")
    assert failed["stack"] == REFUSED
    assert REFUSAL.message in failed["problem"]
    assert {(row["result"], row["log"]) for row in report["stacks"] if row["wave"] == "rest"} == {("waiting", None)}
    before = fleet.finished()

    killed_while_one_is_upgraded(fleet, killed)
    assert eventually(lambda: fleet.report()["state"] == "killed")
    results = fleet.results()
    assert {results[name] for name in (*canary, *early)} == {"ok"}
    assert results[killed] == "running"
    assert {results[name] for name in rest} == {"ok", "running", "waiting"}
    after = fleet.finished()
    assert before.items() <= after.items(), "what had ended well did not run again"

    page = fleet.account.folder / "report.md"
    printed = fleet.run("resume", "--yes", "--output", str(page))
    assert f"{killed}: was killed; up runs again." in printed
    assert fleet.results() == dict.fromkeys(size.stacks, "ok")
    assert after.items() <= fleet.finished().items(), "what had ended well did not run again"
    assert all(f"| `{name}` | up | updated |" in page.read_text() for name in size.stacks)
    assert (fleet.versions(), fleet.maxima()) == ({CHOSEN}, {4})
    calls = [call for call in fleet.account.emulator.calls(last) if call.operation == UPGRADE]
    assert Counter(call.about for call in calls if call.code != REFUSAL.code) == Counter(size.eks)
