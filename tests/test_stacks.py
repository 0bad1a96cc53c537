"""Every stack file of the repository: it loads, it builds, and all that it declares passes the packs."""

from copy import deepcopy
from functools import cache

import pytest

from components.contract.ownership import FIELD_MANAGER
from infra.program import run
from support import aks  # noqa: F401 answers what the program asks Azure
from support.existing import sighting_of
from support.policies import Report, Wire, sent
from support.recorder import Recorder, record
from support.shipped_renders import FOLDER, differing, lines
from support.weakenings import WEAKENINGS
from workbench.stacks import find, stack_files

STACKS = sorted(stack_files())


@cache
def build(name: str, *, first_preview: bool = False) -> Recorder:
    config = find(name).config
    return record(
        lambda: run(config, kubeconfig="/nowhere/kubeconfig", sighting=sighting_of(config)), first_preview=first_preview
    )


def test_the_repository_has_a_development_and_a_production_shape() -> None:
    assert {find(name).config.environment for name in STACKS} == {"dev", "prod"}


@pytest.mark.parametrize("name", STACKS)
def test_names_are_unique_and_stable_over_two_builds(name: str) -> None:
    first, second = build(name), build.__wrapped__(name)
    urns = [(resource.type, resource.name) for resource in first.resources]
    assert len(urns) == len(set(urns))
    assert {(r.type, r.name): r.inputs for r in first.resources} == {
        (r.type, r.name): r.inputs for r in second.resources
    }


@pytest.mark.parametrize("name", STACKS)
def test_a_first_preview_shows_every_resource_that_is_made(name: str) -> None:
    """One that is declared once some output is known would be in no preview and before no policy."""
    shown, made = (
        {key for key in recorder.sent if key[0] != "pulumi:pulumi:Stack"}  # the first build of a process makes it
        for recorder in (build(name, first_preview=True), build(name))
    )
    assert shown == made


RENEW = "if this is meant, run `cd tests && ../.venv/bin/python -m support.shipped_renders` and review the difference"


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_plans_what_its_reviewed_render_says(name: str) -> None:
    """A feature for which a stack does not ask changes nothing of it."""
    found = differing(name, lines(build(name, first_preview=True)))
    assert found == {}, f"the program plans something else than tests/renders/{name}.txt says: {RENEW}"


def test_every_stack_has_a_reviewed_render() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.txt")) == STACKS, RENEW


def test_a_render_tells_what_is_added_removed_and_changed() -> None:
    [first, second, *others] = lines(build("local", first_preview=True))
    assert differing("local", [first + "0", *others, "a:b:C new 0"]) == {
        "added": ["a:b:C new"],
        "removed": [second.rpartition(" ")[0]],
        "changed": [first.rpartition(" ")[0]],
    }


PLAIN = ("aws:", "azure-native:", "kubernetes:", "pulumi:")
COMPONENT_TYPES = {
    "igz-clusters:addons:ClusterAutoscaler",
    "igz-clusters:addons:DefaultStorageClass",
    "igz-clusters:addons:DevicePlugin",
    "igz-clusters:clusters:AksCluster",
    "igz-clusters:clusters:AksClusterAddons",
    "igz-clusters:clusters:AksControlPlane",
    "igz-clusters:clusters:AksIdentities",
    "igz-clusters:clusters:AksLogs",
    "igz-clusters:clusters:AksNetwork",
    "igz-clusters:clusters:AksNodeGroups",
    "igz-clusters:clusters:EksAddons",
    "igz-clusters:clusters:AksBackup",
    "igz-clusters:clusters:EksBackup",
    "igz-clusters:clusters:EksCluster",
    "igz-clusters:clusters:EksClusterAddons",
    "igz-clusters:clusters:EksControlPlane",
    "igz-clusters:clusters:EksEndpoints",
    "igz-clusters:clusters:EksNetwork",
    "igz-clusters:clusters:EksNodeGroup",
    "igz-clusters:clusters:EksRole",
    "igz-clusters:clusters:ExistingCluster",
    "igz-clusters:clusters:ExistingPool",
    "igz-clusters:clusters:LocalCluster",
    "igz-clusters:platform:MlrunSettings",
    "igz-clusters:scheduling:AdmissionGuard",
    "igz-clusters:scheduling:AdmissionRules",
    "igz-clusters:scheduling:DefaultResources",
    "igz-clusters:scheduling:Gangs",
    "igz-clusters:scheduling:PodCorrections",
    "igz-clusters:scheduling:PodPlacement",
    "igz-clusters:scheduling:PodSecurity",
    "igz-clusters:scheduling:PriorityClasses",
    "igz-clusters:scheduling:UserNamespace",
}


def test_type_tokens_of_components_are_these_and_no_others() -> None:
    """A token is part of every URN: changing one replaces what is deployed.

    A component of another package would be one token here, and hide what it makes from the policies.
    """
    seen = {r.type for name in STACKS for r in build(name).resources if not r.type.startswith(PLAIN)}
    assert seen == COMPONENT_TYPES


@pytest.mark.parametrize("name", STACKS)
def test_everything_inside_the_cluster_is_made_by_its_own_provider(name: str) -> None:
    in_cluster = [r for r in build(name).resources if r.type.startswith("kubernetes:")]
    assert in_cluster
    assert [r.name for r in in_cluster if "test-kubernetes" not in r.provider] == []


@pytest.mark.parametrize("name", STACKS)
def test_every_object_is_applied_under_the_one_name_that_lets_a_killed_run_be_repeated(name: str) -> None:
    objects = [r for r in build(name).resources if r.type.startswith("kubernetes:")]
    owners = {r.name: r.inputs["metadata"]["annotations"].get("pulumi.com/patchFieldManager") for r in objects}
    assert set(owners.values()) == {FIELD_MANAGER}, owners


def judged(recorder: Recorder, stack: str) -> Report:
    config = find(stack).config
    wire = Wire(stack={"environment": config.environment.value, "profile": config.profile.value})
    return wire.judge_stack(sent(recorder))


@pytest.mark.parametrize("name", STACKS)
def test_every_recorded_resource_passes_every_rule_without_a_doubt(name: str) -> None:
    assert judged(build(name), name).outcome == {"expect": [], "advise": [], "unjudged": []}


@pytest.mark.parametrize("name", WEAKENINGS)
def test_a_weakened_fact_trips_exactly_its_rules(name: str) -> None:
    weakening = WEAKENINGS[name]
    recorder = deepcopy(build(weakening.stack))
    for resource in recorder.resources:
        weakening.change.apply(resource.type, resource.name, resource.inputs)
    report = judged(recorder, weakening.stack)
    assert set(report.violated) | set(report.advised) == set(weakening.rules), report.messages
    assert report.violated
    assert report.unjudged == []
