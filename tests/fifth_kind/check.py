"""Runs in a copy of the tree that has the pretended cloud: everything that reads kinds of clusters knows it."""

from pathlib import Path

from components.contract.clusters import DESCRIPTORS
from components.contract.environments import ClusterKind, Environment, PlatformProfile
from infra.config.reference import schema
from infra.program import run
from policies.remediation import Draft
from policies.rule import Context
from policies.views.node_groups import remediation
from policies.waivers import today
from support.policies import Wire, sent
from support.recorder import record
from workbench.engine.clouds.find import cloud_of
from workbench.offline.clouds import CLOUDS
from workbench.offline.providers import planning
from workbench.recovery.cloud import open_account
from workbench.report.dangers import kind_of
from workbench.stacks import find
from workbench.starter import SHAPES

config = find("pretend-dev").config
names = {group.name for group in config.groups}
assert names == {"initial", "workload", "spot", "jupyter-x", "jupyter-y"}, names
assert {descriptor.kind for descriptor in DESCRIPTORS} == set(ClusterKind)

recorder = record(lambda: run(config))
assert recorder.exports["pools"].keys() == names
made = recorder.of_type("pretend:containers:Group")
assert {name.removeprefix("test-") for name in made} == names
assert made["test-spot"]["nodeTaints"] == ["app.iguazio.com/lifecycle=preemptible:NoSchedule"]
assert not recorder.of_type("aws:eks/nodeGroup:NodeGroup")

draft = Draft({"bought": "interruptible"}, lambda _: False, "pretend:containers:Group")
context = Context(environment=Environment.DEV, profile=PlatformProfile.MLRUN_CE, today=today())
remediation.set_true_lifecycle(draft, context)
remediation.add_spot_taint(draft, context)
assert draft.content["nodeLabels"] == {"app.iguazio.com/lifecycle": "preemptible"}
assert draft.content["nodeTaints"] == made["test-spot"]["nodeTaints"]

report = Wire(stack={"environment": "dev", "profile": "mlrun-ce"}).judge_stack(sent(recorder))
assert report.violated == [], report.messages

assert kind_of("pretend:containers:Cluster", "a", {}) == "cluster"
assert kind_of("pretend:containers:Group", "a", made["test-initial"]) == "initial group"
assert cloud_of("pretend-dev", config).groups.keys() == {f"pretend-dev-{name}" for name in names}
assert open_account("pretend-dev", config.cluster).place == "Pretend"
assert "pretend" in CLOUDS
assert planning("pretend") is not None
assert Path(SHAPES[ClusterKind.PRETEND][Environment.DEV]).is_file()
assert "PretendConfig" in schema()["$defs"]
print("every reader knows the pretended cloud")
