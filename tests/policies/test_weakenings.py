"""Our own stacks keep every rule of both packs, and each single weakening of them breaks exactly the intended ones."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.config import parse
from infra.program import run
from policies.examples import Given, changed, file_of, load_file, resolved_resource
from policies.registry import RULES
from policies.rule import Rule
from support.edits import edited
from support.existing import sighting_of
from support.policies import Wire, sent
from support.recorder import record
from workbench.stacks import CONFIG_KEY, find, stack_files

FILES = sorted((Path(__file__).parent / "weakenings").glob("*.yaml"))
WEAKENINGS: dict[str, dict[str, Any]] = {
    f"{file.stem}/{name}": row for file in FILES for name, row in yaml.safe_load(file.read_text()).items()
}

OUT_OF_REACH: dict[str, dict[str, str]] = yaml.safe_load((Path(__file__).parent / "out_of_reach.yaml").read_text())
PRODUCTION = {"eks": "prod", "aks": "aks-prod", "existing": "existing-prod"}

MACHINE = {"vcpus": 32, "memoryGib": 128}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "prod-with-data": (
        "prod",
        {"pools.data": {"role": "data", "size": {"min": 3, "max": 3}, "instanceTypes": ["i4i.2xlarge"]}},
    ),
    "prod-with-storage": (
        "prod",
        {
            "storage": {
                "corpus": {"purpose": "dataset", "type": "files"},
                "fast": {"purpose": "dataset", "type": "lustre", "sizeGib": 1200, "zone": "a"},
            },
            "namespaces.mlrun": {"coreServices": True, "volumes": {"shared": {"storage": "corpus"}}},
        },
    ),
    "aks-prod-with-storage": (
        "aks-prod",
        {
            "storage": {"corpus": {"purpose": "dataset", "type": "files"}},
            "namespaces.default-tenant.volumes": {"shared": {"storage": "corpus", "sizeGib": 200}},
        },
    ),
    "prod-with-hours": (
        "prod",
        {"pools.workload.officeHours": {"from": "08:00", "to": "19:00", "timeZone": "UTC", "nightMin": 1}},
    ),
    "existing-prod": (
        "existing",
        {
            "environment": "prod",
            "cluster.nodes.jupyter": None,
            "pools.jupyter": None,
            "cluster.nodes.spot": {"selector": {"example.com/rack": "spare"}, "taint": True},
            "pools.spot": {"role": "workload", "lifecycle": "spot", "size": {"min": 2, "max": 2}, "machine": MACHINE},
            "cluster.nodes.data": {"selector": {"example.com/rack": "disks"}},
            "pools.data": {"role": "data", "size": {"min": 3, "max": 3}, "machine": {**MACHINE, "localNvmeGib": 4000}},
        },
    ),
}
"""Stacks with what none of our stack files has: the file that each changes, and the changes."""


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_POLICY_UNKNOWN", "note")


@cache
def choices(stack: str) -> dict[str, Any]:
    """Return what a stack file or a variant of one says."""
    name, changes = VARIANTS.get(stack, (stack, {}))
    return edited(find(name).document["config"][CONFIG_KEY], changes)


@cache
def planned(stack: str) -> tuple[Given, ...]:
    """Return what the engine would send of a stack's resources."""
    config = parse(choices(stack))
    sighting = sighting_of(config)
    return tuple(sent(record(lambda: run(config, kubeconfig="/nowhere/kubeconfig", sighting=sighting))))


def weakened(stack: str, row: dict[str, Any]) -> Iterator[Given]:
    for given in planned(stack):
        if "at" not in row or not fnmatchcase(f"{given.type.rpartition(':')[2]}::{given.name}", row["at"]):
            yield given
        elif not row.get("drop"):
            change = changed({"props": given.props, "opts": dict(given.opts)}, row["but"])
            yield replace(given, props=change["props"], opts=change["opts"])
    if "add" in row:
        added = resolved_resource(row["add"])
        [home, *_] = choices(stack)["namespaces"]
        is_here = added.props.get("metadata", {}).get("namespace") == "mlrun"
        yield replace(added, props=changed(added.props, {"metadata": {"namespace": home}})) if is_here else added


@pytest.mark.parametrize("stack", [*stack_files(), *VARIANTS])
def test_our_own_stacks_keep_every_rule_without_a_doubt(stack: str) -> None:
    outcome = Wire(stack=choices(stack)).judge_stack(list(planned(stack))).outcome
    assert outcome == {"expect": [], "advise": [], "unjudged": []}


@pytest.mark.parametrize("name", WEAKENINGS)
def test_a_weakening_breaks_exactly_the_intended_rules(name: str) -> None:
    row = WEAKENINGS[name]
    resources = list(weakened(row["in"], row))
    assert resources != list(planned(row["in"])), "nothing was weakened"
    report = Wire(stack=choices(row["in"])).judge_stack(resources)
    expected = {key: row.get(key, []) for key in ("expect", "advise", "unjudged")}
    assert report.outcome == expected, "\n".join(report.messages)


def test_there_are_enough_of_them() -> None:
    assert len(WEAKENINGS) >= 210


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
@pytest.mark.parametrize("kind", PRODUCTION)
def test_every_rule_is_weakened_on_every_kind_of_cluster_or_it_says_why_not(kind: str, rule: Rule[Any]) -> None:
    """By a row of the table, or by user work of the rule's own examples beside the nodes of that kind."""
    noticed = rule.id in noticed_on(kind)
    if any(fnmatchcase(rule.id, pattern) for pattern in OUT_OF_REACH.get(kind, {})):
        assert not noticed, "a row reaches it"
    else:
        assert noticed or breaks_by_an_example(rule, PRODUCTION[kind])


@cache
def noticed_on(kind: str) -> set[str]:
    rows = [row for row in WEAKENINGS.values() if choices(row["in"])["cluster"]["kind"] == kind]
    return {rule for row in rows for key in ("expect", "advise") for rule in row.get(key, [])}


def breaks_by_an_example(rule: Rule[Any], stack: str) -> bool:
    for example in load_file(file_of(rule.id)):
        work = example.resources
        if example.kind == "bad" and all(re.match("kubernetes:(?!core/v1:Node$)", given.type) for given in work):
            # The examples' work runs in this namespace.
            namespaces = {**choices(stack)["namespaces"], "mlrun": {"coreServices": True}}
            said = {**choices(stack), "namespaces": namespaces, **example.stack_config}
            alone, beside = (Wire([rule], stack=said).judge_stack([*planned(stack), *more]) for more in ([], work))
            if beside.outcome != alone.outcome and rule.id in (*beside.violated, *beside.advised):
                return True
    return False
