"""The component beside the program of the same stack file, without an engine."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi
import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct
from pulumi.errors import InputPropertiesError
from pulumi.provider import ConstructResult

from components.contract.component_package import CLUSTER_TYPE
from components.contract.engine_marks import MARK, SECRET_KIND, SENTINELS
from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE, ClusterInventory
from components.contract.policy_guard import ATTACHED, GUARD_VARIABLE
from infra.config import CONFIG_KEY, ConfigurationError, parse
from infra.package import schema
from infra.package.inputs import plain_inputs
from infra.package.provider import ClustersProvider, Servicer
from infra.program import run
from infra.run_facts import KUBECONFIG
from support import eks, stack_cases
from support.programs import PLUGIN, served_schema
from support.recorder import Options, Recorder, record
from support.sampled import sampled
from workbench import stacks
from workbench.stacks import find

PATH = "/somewhere/kubeconfig"
STACK = "urn:pulumi:test::igz-clusters::pulumi:pulumi:Stack::igz-clusters-test"


def document(stack: str) -> dict[str, Any]:
    """Return a stack's settings as the engine hands them to the program: with their keys in order."""
    choices: dict[str, Any] = in_order(find(stack).document["config"][CONFIG_KEY])
    return choices


def in_order(value: Any) -> Any:
    return json.loads(json.dumps(value, sort_keys=True))


def on_the_wire(value: Any) -> Struct:
    return ParseDict(value, Struct())


def built(inputs: Any, **how: Any) -> tuple[Recorder, ConstructResult]:
    """Return what the component of these inputs declares, and what the engine is told of it."""
    results: list[ConstructResult] = []

    def program() -> None:
        results.append(ClustersProvider().construct("main", CLUSTER_TYPE, plain_inputs(on_the_wire(inputs)), **how))

    return record(program, first_preview=True), results[0]


def refused(inputs: Any, provider: ClustersProvider | None = None, name: str = "main") -> str:
    def program() -> None:
        (provider or ClustersProvider()).construct(name, CLUSTER_TYPE, inputs)

    with pytest.raises(InputPropertiesError) as caught:
        record(program)
    assert caught.value.errors == []  # beside each of them the engine would show the whole value
    return caught.value.message


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """What `igz-clusters env` tells programs: a local control plane, and the nodes of an existing cluster."""
    sighting = tmp_path / "sighting"
    sighting.write_text(ClusterInventory(document("existing")["cluster"]["clusterId"]).to_json())
    monkeypatch.setenv(KUBECONFIG, PATH)
    monkeypatch.setenv(INVENTORY_VARIABLE, str(sighting))
    monkeypatch.setenv(GUARD_VARIABLE, ATTACHED)


def as_of_the_stack(options: Options, owner: str) -> Options:
    """Return a resource's options with the stack in place of the component."""

    def moved(urn: str) -> str:
        return STACK if urn == owner else urn.replace(f"::{CLUSTER_TYPE}$", "::pulumi:pulumi:Stack$")

    return replace(
        options, parent=moved(options.parent), dependencies=tuple(sorted(moved(urn) for urn in options.dependencies))
    )


@pytest.mark.parametrize("stack", sampled(stacks.stack_files(), ["local", "dev", "aks-dev", "existing"]))
def test_the_component_declares_what_the_program_does_and_nothing_else(stack: str) -> None:
    inputs = document(stack)
    seen = ClusterInventory(inputs["cluster"]["clusterId"]) if inputs["cluster"]["kind"] == "existing" else None
    program = record(lambda: run(parse(inputs), kubeconfig=PATH, sighting=seen), first_preview=True)
    component, _ = built(inputs)

    assert component.sent.pop((CLUSTER_TYPE, "main")) == inputs
    assert component.sent == program.sent
    assert component.options.pop((CLUSTER_TYPE, "main")).parent == STACK
    owner = f"urn:pulumi:test::igz-clusters::pulumi:pulumi:Stack${CLUSTER_TYPE}::main"
    found = {key: as_of_the_stack(options, owner) for key, options in component.options.items()}
    expected = {key: as_of_the_stack(options, owner) for key, options in program.options.items()}
    assert {key for key, options in found.items() if options != expected[key]} == set()


def test_the_component_offers_the_outputs_of_its_schema() -> None:
    said = schema.schema()["resources"][CLUSTER_TYPE]
    _, local = built(document("local"))
    assert local.state.keys() == set(said["required"])
    identity = {"buckets": [{"bucket": "data-sets", "access": "read"}]}
    _, cloud = built({**document("dev"), "namespaces": {"mlrun": {"coreServices": True, "identity": identity}}})
    assert cloud.state.keys() == said["properties"].keys()


def is_on_the_wire(value: Any) -> bool:
    """Return whether the engine's one type of numbers and of keys can hold a document."""
    try:
        return isinstance(value, dict) and repr(plain_inputs(on_the_wire(value))) == repr(in_order(value))
    except (ValueError, TypeError, OverflowError, ConfigurationError):
        return False


def test_wrong_inputs_get_the_messages_of_a_wrong_stack_file() -> None:
    cases = [case for case in stack_cases.load() if is_on_the_wire(case.document)]
    assert len(cases) > 300
    provider, differing = ClustersProvider(), []
    for case in cases:
        with pytest.raises(ConfigurationError) as of_a_file:
            parse(in_order(case.document))
        with pytest.raises(InputPropertiesError) as of_inputs:
            provider.construct("main", CLUSTER_TYPE, plain_inputs(on_the_wire(case.document)))
        problems = [str(problem) for problem in of_a_file.value.problems]
        head = [f"{len(problems)} problems"] if len(problems) > 1 else []
        if of_inputs.value.message.splitlines() != [*head, *problems]:
            differing.append(case.name)
    assert differing == []


def test_a_secret_or_an_unknown_input_is_refused_before_anything_is_built() -> None:
    inputs = on_the_wire({"pools": {"a": {MARK: SECRET_KIND, "value": "canary"}}, "cluster": min(SENTINELS)})
    with pytest.raises(InputPropertiesError, match=r"^2 problems\n(cluster|pools\.a): is ") as caught:
        asyncio.run(Servicer._construct_inputs(inputs, {}))
    assert "canary" not in caught.value.message


def test_a_base_is_refused() -> None:
    assert refused({**document("local"), "base": "acme"}).startswith("base: names a base, which only a stack file can")


@pytest.mark.parametrize("second", ["other", "main"])  # of one name below different parents, which the engine permits
def test_a_stack_has_one_cluster(second: str) -> None:
    provider = ClustersProvider()

    def program() -> None:
        provider.construct("main", CLUSTER_TYPE, document("local"))

    record(program)
    assert refused(document("local"), provider, second) == (
        "the program has a cluster already, 'main', and a stack has one; make a stack for each"
    )


def test_the_package_starts_in_any_folder_and_serves_its_schema(tmp_path: Path) -> None:
    assert served_schema(Path(sys.executable), PLUGIN, tmp_path) == json.loads(schema.schema_text())


def test_another_type_is_refused() -> None:
    with pytest.raises(InputPropertiesError, match=r"^unknown type igz-clusters:index:Pool \(allowed: "):
        ClustersProvider().construct("main", "igz-clusters:index:Pool", {})


def test_a_program_without_the_surroundings_of_its_cluster_is_told_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(KUBECONFIG)
    monkeypatch.delenv(INVENTORY_VARIABLE)
    way = 'Run `eval "$(igz-clusters env test)"` in the folder of the stack file first.'
    assert refused(document("local")) == f"{KUBECONFIG} is not set. {way}"
    assert (
        refused(document("existing")) == f"{INVENTORY_VARIABLE} is not set, so the cluster's nodes are unknown. {way}"
    )


def test_an_update_without_packs_is_refused_where_the_guard_requires_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GUARD_VARIABLE)
    assert refused(eks.document({"policyGuard": "required"})) == (
        "policyGuard of this stack is 'required', but this update is not guarded. "
        "Attach the policy packs as docs/component-package.md shows."
    )


@pytest.fixture
def stack_file() -> Iterator[Callable[[dict[str, Any]], None]]:
    """Return what puts settings into the stack file, whose whole configuration the engine gives to a component."""
    yield lambda settings: pulumi.runtime.set_all_config({CONFIG_KEY: json.dumps(settings)})
    pulumi.runtime.set_all_config({})


@pytest.mark.parametrize(
    ("own", "guard"),
    [
        ({"environment": "prod"}, "off"),
        ({"environment": "dev", "policyGuard": "required"}, "off"),
        ({"environment": "dev", "policyGuard": "off"}, "required"),
        ({"environment": "dev", "base": "gone"}, "off"),
    ],
)
def test_a_program_loosens_no_guard_that_the_stack_file_demands(
    monkeypatch: pytest.MonkeyPatch, stack_file: Callable[[dict[str, Any]], None], own: dict[str, Any], guard: str
) -> None:
    monkeypatch.delenv(GUARD_VARIABLE)
    stack_file(own)
    inputs = eks.document({"environment": "dev", "policyGuard": guard})
    assert refused(inputs).startswith("policyGuard of this stack is 'required', but this update is not guarded. ")


def test_a_stack_file_without_a_guard_leaves_a_local_cluster_unguarded(
    monkeypatch: pytest.MonkeyPatch, stack_file: Callable[[dict[str, Any]], None]
) -> None:
    monkeypatch.delenv(GUARD_VARIABLE)
    stack_file({"environment": "prod"})
    assert built(document("local"))


def test_providers_that_the_component_does_not_use_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warned.append)

    def program() -> None:
        options = pulumi.ResourceOptions(providers={"kubernetes": pulumi.ProviderResource("kubernetes", "theirs", {})})
        ClustersProvider().construct("main", CLUSTER_TYPE, document("local"), options)

    providers = record(program).of_type("pulumi:providers:kubernetes")
    assert warned == ["main: makes its own providers and does not use those that it was given: kubernetes"]
    assert providers.keys() == {"theirs", "test-kubernetes"}
