"""The AWS code of the real autoscaler raises the same groups, by as many nodes, as a rehearsal of the stack says.

One stack and one scenario have all cases of ``autoscaled.yaml``. It is rehearsed, and it is up on the AWS emulator,
where the autoscaler has its code for AWS and the flags, rights and tags that the stack gave it, and all work arrives at
once. The two have the autoscaler's core in common, not how it knows groups and nodes: by ConfigMaps in a rehearsal; on
AWS by Auto Scaling groups, their tags, launch templates, EKS's node groups and EC2's machine types.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.clusters.eks.identity import autoscaler_statements
from infra.config import CONFIG_KEY, parse
from support.aws_autoscaler import AwsCluster
from support.aws_emulator import Account
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.stacks import Stack, find
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

STACK = "dev"
FILE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("autoscaled.yaml").read_text())
CASES: dict[str, dict[str, Any]] = FILE["cases"]

EVERY = 30
"""Seconds between the arrivals of two cases in the rehearsal."""
REST = 10 * 60
"""Seconds after the last arrival."""
QUIET = 4 * 60
"""Seconds at the end of a rehearsal in which no node may be added any more."""


@dataclass(frozen=True)
class Growth:
    """By how many nodes groups grew, in the rehearsal and on the emulator; groups that did not grow are left out."""

    rehearsed: dict[str, int]
    raised: dict[str, int]
    calls: set[str]
    """Operations of AWS that the autoscaler called."""


def stack_of(pools: dict[str, Any]) -> Stack:
    stack = find(STACK)
    config = stack.document["config"]
    choices = {**config[CONFIG_KEY], "pools": pools}
    return replace(stack, document={**stack.document, "config": {**config, CONFIG_KEY: choices}}, config=parse(choices))


def scenario_of(factor: int = 1) -> Any:
    works = [
        (name, {key: value for key, value in work.items() if key != "count"}, work.get("count", 1), number * EVERY)
        for number, case in enumerate(CASES.values())
        for name, work in case["works"].items()
    ]
    return Scenario.model_validate(
        {
            "description": "Work that needs nodes",
            "lasts": f"{len(CASES) * EVERY + REST * factor}s",
            "works": {name: work for name, work, _, _ in works},
            "arrivals": [{"work": name, "count": count, "at": f"{at}s"} for name, _, count, at in works],
            "expectations": [{"expect": "lands-on", "work": works[0][0], "place": {}}],
        }
    )


def rehearsed(stack: Stack) -> Record:
    """Return the record of a rehearsal at whose end no node was added any more; a busy machine needs longer."""
    for factor in (1, 2, 4):
        with simulated(stack, Pace(), binaries=ensure(), progress=lambda _: None) as cluster:
            record = play(cluster, scenario_of(factor))
        if max(node.created for node in record.nodes) + QUIET <= record.lasts:
            return record
    pytest.fail("the rehearsal adds nodes to its end")


def added(record: Record) -> dict[str, int]:
    """Return how many nodes the autoscaler added to each group after the start."""
    new = [node.group for node in record.nodes if node.created >= 0]
    return {group: new.count(group) for group in new}


@pytest.fixture(scope="module")
def growth(tmp_path_factory: pytest.TempPathFactory) -> Growth:
    pools = {**find(STACK).document["config"][CONFIG_KEY]["pools"], **FILE["pools"]}
    stack = stack_of(pools)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path_factory.mktemp("data")))
        record = rehearsed(stack)
    assert record.refusals == ()
    folder = tmp_path_factory.mktemp("aws")
    with Account.opened(folder, STACK, is_quick=True) as account:
        account.edit(STACK, pools=pools)
        account.run("up", STACK, "--hermetic", "--yes")
        cluster = AwsCluster(account, stack)
        cluster.start_nodes()
        before, last = cluster.desired(), account.last
        cluster.arrive(scenario_of())
        with cluster.autoscaler(folder) as autoscaler:
            after = autoscaler.settled()
        calls = {call.operation for call in account.aws.calls(last)}
    raised = {name: size - before[name] for name, size in after.items() if size != before[name]}
    return Growth(added(record), raised, calls)


def groups_of(case: dict[str, Any], growth: dict[str, int]) -> dict[str, int]:
    return {group: growth[group] for group in case["grows"] if group in growth}


@pytest.mark.parametrize("name", CASES)
def test_the_autoscaler_on_aws_raises_what_the_rehearsal_says(growth: Growth, name: str) -> None:
    case = CASES[name]
    assert groups_of(case, growth.raised) == groups_of(case, growth.rehearsed) == case["grows"]


def test_no_other_group_grows(growth: Growth) -> None:
    expected = {group: nodes for case in CASES.values() for group, nodes in case["grows"].items()}
    assert growth.raised == growth.rehearsed == expected


def test_at_least_twenty_cases_of_which_some_need_no_node_and_most_do() -> None:
    needless = [name for name, case in CASES.items() if not case["grows"]]
    assert len(CASES) >= 20
    assert 3 <= len(needless) < len(CASES) / 2
    groups = [group for case in CASES.values() for group in case["grows"]]
    assert len(groups) == len(set(groups))


def test_the_stacks_policy_allows_every_call_that_the_autoscaler_makes(growth: Growth) -> None:
    allowed = {action for statement in autoscaler_statements(STACK) for action in statement["Action"]}
    assert growth.calls <= allowed
    assert {"autoscaling:SetDesiredCapacity", "ec2:DescribeInstanceTypes", "eks:DescribeNodegroup"} <= growth.calls
