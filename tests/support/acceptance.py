"""Stands in for the commands and the cluster that an acceptance run works with."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.config import CONFIG_KEY, StackConfig
from workbench import stacks
from workbench.acceptance.copied_stack import CopiedStack
from workbench.acceptance.record import Record
from workbench.acceptance.step import Cluster, Context
from workbench.engine.kubectl import Api
from workbench.report.event_payloads import Step
from workbench.report.events import Stream
from workbench.report.model import Outcome, Source, StackReport
from workbench.system.errors import UserError

LOCAL: dict[str, Any] = {
    "schemaVersion": 1,
    "environment": "dev",
    "cluster": {"kind": "local"},
    "pools": {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}},
}


def step(op: str, name: str = "x", type_: str = "kubernetes:core/v1:Node", **more: Any) -> Step:
    """Return a step of the engine on a resource that is not a component."""
    urn = f"urn:pulumi:s::igz-clusters::{type_}::{name}"
    state = {"urn": urn, "type": type_, "custom": True, "inputs": {}, "outputs": {}}
    return Step.model_validate({"op": op, "urn": urn, "type": type_, "old": state, "new": state, **more})


def stream(*steps: Step) -> Stream:
    """Return the stream of a run that makes these steps."""
    return Stream(steps=list(steps), results=list(steps))


def node(name: str, labels: Mapping[str, str], taints: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """Return a ready node."""
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": {"taints": list(taints)},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def nodes_of(config: StackConfig) -> list[dict[str, Any]]:
    """Return the nodes that a stack has when each pool has at least one."""
    return [
        node(f"{group.name}-{index}", group.labels, [taint.to_kubernetes() for taint in group.taints])
        for group in config.groups
        for index in range(max(group.size.min, 1))
    ]


@dataclass
class FakeApi:
    """Answers ``kubectl get``, ``create``, ``apply`` and ``delete`` from a list of objects, and schedules pods."""

    objects: list[dict[str, Any]]
    schedules: bool = True
    admits: bool = False
    """Whether a pod that selects no pool is admitted."""
    refuses: str = ""
    """Why every other pod is refused."""
    managers: str = ""
    """What is listed with managers of fields."""

    def run(self, *arguments: str, stdin: str | None = None) -> str:
        """Answer a command."""
        verb, *words = arguments
        if verb == "get" and "--show-managed-fields" in words:
            return self.managers
        if words[0] == "namespace":
            return self._namespaces(verb, words[1:])
        if verb == "get":
            return json.dumps(self._found(words))
        if verb == "create":
            return self._judged(json.loads(stdin or ""))
        if verb == "apply":
            self._add(json.loads(stdin or ""))
        return ""

    def _namespaces(self, verb: str, words: Sequence[str]) -> str:
        option, _, wanted = words[1].partition("=") if words[0] == "-l" else ("", "", words[0])
        spaces = [each for each in self.objects if each["kind"] == "Namespace"]
        found = [
            each
            for each in spaces
            if (each["metadata"].get("labels", {}).get(option) if option else each["metadata"]["name"]) == wanted
        ]
        if verb == "delete":
            self.objects[:] = [each for each in self.objects if each not in found]
        return json.dumps(found[0]) if found and verb == "get" else ""

    def _found(self, words: Sequence[str]) -> Any:
        kinds = {each.partition(".")[0].lower() for each in words[0].split(",")}
        short = {"nodes": "node", "pods": "pod", "pvc": "persistentvolumeclaim", "pv": "persistentvolume"}
        wanted = {short.get(kind, kind) for kind in kinds}
        found = [each for each in self.objects if each["kind"].lower() in wanted]
        if words[1].startswith("-"):
            return {"items": found}
        named = [each for each in found if each["metadata"]["name"] == words[1]]
        if not named:
            raise UserError(f"{words[0]} {words[1]} not found")
        return named[0]

    def _judged(self, pod: Mapping[str, Any]) -> str:
        if "nodeSelector" not in pod["spec"] and not self.admits:
            raise UserError("select a pool [PL-01]")
        if "nodeSelector" in pod["spec"] and self.refuses:
            raise UserError(self.refuses)
        return ""

    def _add(self, each: dict[str, Any]) -> None:
        selector = each.get("spec", {}).get("nodeSelector", {})
        homes = [node for node in self.objects if node["kind"] == "Node"]
        fits = [node for node in homes if selector.items() <= node["metadata"]["labels"].items()]
        if each["kind"] == "Pod" and self.schedules and fits:
            each["spec"]["nodeName"] = fits[0]["metadata"]["name"]
        if each["kind"] == "PersistentVolumeClaim":
            each |= {"status": {"phase": "Bound"}}
            each["spec"]["volumeName"] = "volume"
        self.objects.append(each)


@dataclass
class FakeProduct:
    """Commands that only note that they ran, and answer what a test wrote down."""

    api: FakeApi
    resources: list[dict[str, Any]] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    """Of the next runs of `up`; later ones change nothing."""
    report: StackReport = field(default_factory=lambda: StackReport("s", "dev", "local", Source.DRIFT, Outcome.PASSED))
    remains: list[str] = field(default_factory=list)
    kept_in_cloud: list[str] = field(default_factory=list)
    is_there: bool = False
    """Whether there is a stack of the copy's name."""
    keeps: bool = False
    """Whether `destroy` leaves the state as it is."""
    calls: list[str] = field(default_factory=list)
    fails: dict[str, BaseException] = field(default_factory=dict)
    """What the commands raise, once each."""

    def _called(self, command: str) -> None:
        self.calls.append(command)
        if error := self.fails.pop(command, None):
            raise error

    def exists(self) -> bool:
        return self.is_there

    def create(self) -> None:
        self._called("create")

    def up(self) -> Stream:
        self._called("up")
        return self.streams.pop(0) if self.streams else stream(step("same"))

    def killed_up(self) -> bool:
        self._called("killed up")
        return True

    def recover(self) -> None:
        self._called("recover")

    def drift(self) -> StackReport:
        self._called("drift")
        return self.report

    def destroy(self) -> None:
        self._called("destroy")
        self.resources = self.resources if self.keeps else []

    def cluster(self) -> Cluster:
        api: Any = self.api
        found: Api | None = api
        return Cluster({"resources": self.resources}, found)

    def left(self) -> Sequence[str]:
        return self.remains

    def kept(self) -> Sequence[str]:
        return self.kept_in_cloud

    def forget(self) -> None:
        self._called("forget")


def context_of(folder: Path, choices: Mapping[str, Any], name: str = "dev", **product: Any) -> Context:
    """Return the context of a run on a copy of a stack with these choices; its cluster is as it must be.

    ``folder`` must be the folder of the stack files; the data folder is the caller's to set.
    """
    (folder / f"Pulumi.{name}.yaml").write_text(json.dumps({"config": {CONFIG_KEY: choices}}))
    copied = CopiedStack(f"{name}-accept", name)
    source = stacks.find(name)
    left_out = copied.make(source)
    config = copied.stack.config
    api = FakeApi(nodes_of(config))
    record = Record(name, copied.name, config.cluster.kind, "1", "now", str(source.file.resolve()), left_out)
    return Context(copied, FakeProduct(api, **product), record, lambda _: None, patience=0.0, pause=0.0)
