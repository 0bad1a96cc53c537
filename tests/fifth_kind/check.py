"""Runs in a copy of the tree that has the pretended cloud: everything that reads kinds of clusters knows it."""

import json
from pathlib import Path
from typing import Any

from components.contract.clusters import DESCRIPTORS
from components.contract.environments import ClusterKind, Environment, PlatformProfile
from components.contract.kubernetes_minors import calendar, offered
from components.contract.labels import LabelKey
from infra.config.reference import schema
from infra.config.reference_page import page
from infra.program import run
from policies.examples import Given
from policies.remediation import Draft
from policies.rule import Context
from policies.views.clusters import CLUSTERS
from policies.views.node_groups import remediation
from policies.views.tags import TAGGED
from policies.waivers import today
from support.policies import Wire, sent
from support.recorder import record
from tools.facts.instances import PROVIDERS
from workbench.engine.clouds.find import cloud_of
from workbench.engine.error_classification import is_expired, is_in_use
from workbench.engine.kubectl import Api
from workbench.engine.pool_status import declared_groups, live_groups
from workbench.offline.clouds import CLOUDS
from workbench.offline.providers import planning
from workbench.recovery.cloud import open_account
from workbench.report.dangers import kind_of
from workbench.report.events import STACK_TYPE
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
assert made["test-spot"]["nodeTaints"] == ["pretend.example.com/spot=true:NoSchedule"]
assert not recorder.of_type("aws:eks/nodeGroup:NodeGroup")

draft = Draft({"bought": "interruptible"}, lambda _: False, "pretend:containers:Group")
context = Context(environment=Environment.DEV, profile=PlatformProfile.MLRUN_CE, today=today())
remediation.set_true_lifecycle(draft, context)
remediation.add_spot_taint(draft, context)
assert draft.content["nodeLabels"] == {"app.iguazio.com/lifecycle": "preemptible"}
assert draft.content["nodeTaints"] == made["test-spot"]["nodeTaints"]

report = Wire(stack={"environment": "dev", "profile": "mlrun-ce"}).judge_stack(sent(recorder))
assert report.violated == [], report.messages

GROUP = "pretend:containers:Group"
assert CLUSTERS.types.fullmatch("pretend:containers:Cluster")
assert all(TAGGED.types.fullmatch(each) for each in (GROUP, "pretend:containers:Cluster", "pretend:networks:Network"))
wire = Wire(stack={"environment": "prod", "profile": "mlrun-ce"})
tags = {"environment": "prod", "managed-by": "igz-clusters", "team": "a", "cost-center": "1"}
good = {**made["test-initial"], "tags": tags, "diskTags": tags}


def found(rule: str, props: dict[str, Any]) -> list[str]:
    """Return what a rule says of a protected group with these inputs."""
    messages = wire.judge_stack([Given(GROUP, "data", props, {"protect": True})]).messages
    return [message for message in messages if rule in message]


assert not found("HT-01", good)
assert found("HT-01", {**good, "diskTags": {}})
assert not found("HN-04", good)
assert found("HN-04", {**good, "isPublic": True})
data = {**good, "nodeLabels": {**good["nodeLabels"], LabelKey.ROLE.value: "data"}}
assert not found("NG-20", data)
assert found("NG-20", {**data, "sleepsAtNight": True})

assert kind_of("pretend:containers:Cluster", "a", {}) == "cluster"
assert kind_of("pretend:containers:Group", "a", made["test-initial"]) == "initial group"
assert cloud_of("pretend-dev", config).groups.keys() == {f"pretend-dev-{name}" for name in names}
assert open_account("pretend-dev", config.cluster).place == "Pretend"
assert "pretend" in CLOUDS
assert planning("pretend") is not None
assert Path(SHAPES[ClusterKind.PRETEND][Environment.DEV]).is_file()
assert "PretendConfig" in schema()["$defs"]
assert PROVIDERS["pretend"].read(None).rows.keys() == {"p8"}

assert offered("pretend") == ("1.35",)
assert calendar("pretend").keys() == {"1.35"}
assert schema()["$defs"]["PretendConfig"]["properties"]["version"]["enum"] == ["1.35"]

text = page()
for line in (
    "[pretend](#kind-pretend)",
    "## Kind pretend",
    "| pretended cluster | any |",
    "| pretend | a pretended guarantee |",
    "| eks, aks, pretend | `cluster.tags` has every key",
    "| local, eks, aks, pretend |",
    "[examples/pretend-dev/Pulumi.pretend-dev.yaml]",
):
    assert line in text, line

assert is_expired(["PretendExpired"])
assert is_in_use(["PretendInUse"])
assert not is_expired(["PretendInUse"])


class OneNode(Api):
    """A cluster with a node of which only the cloud says the group."""

    def run(self, *_: str) -> str:
        """Return the node."""
        labels = {"pretend/group": "called-x", LabelKey.POOL.value: "jupyter"}
        return json.dumps({"items": [{"kind": "Node", "metadata": {"labels": labels}}]})


state = {
    "resources": [
        {
            "urn": f"urn:pulumi:s::p::{STACK_TYPE}::p-s",
            "type": STACK_TYPE,
            "outputs": {
                "pools": {name: each.model_dump(by_alias=True) for name, each in declared_groups(config).items()}
            },
        },
        {"urn": f"urn:pulumi:s::p::{GROUP}::s-jupyter-x", "type": GROUP, "outputs": {"called": "called-x"}},
    ]
}
assert live_groups(OneNode(Path(), None, {}), state).nodes == {"jupyter-x": 1}
print("every reader knows the pretended cloud")
