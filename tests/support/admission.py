"""Rules at admission as the component makes them, bound to namespaces of a test."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from components.contract.environments import Environment
from components.contract.groups import NodeGroup, resolve_groups
from components.contract.labels import LabelKey
from components.contract.policy_choices import PolicyChoices
from components.contract.policy_parameters import PARAMETERS_NAME
from components.contract.taints import OWN_SPOT_TAINT, Taint
from components.scheduling.admission_rules import AdmissionRule, AdmissionRules, AdmissionRulesArgs
from policies.admission import entries
from policies.rule import Rule
from support.api import Api
from support.cluster import Cluster, eventually
from support.recorder import record
from workbench.local.components import POLICY_TYPES
from workbench.stacks import find

Manifest = dict[str, Any]


def rules_at_admission(rules: Iterable[Rule[Any]]) -> tuple[AdmissionRule, ...]:
    """Return what the data file would say of ``rules``."""
    return tuple(AdmissionRule(**entry) for entry in json.loads(json.dumps(entries(rules))))


def local_groups(spot_taint: Taint | None = OWN_SPOT_TAINT) -> tuple[NodeGroup, ...]:
    """Return the groups of the repository's own local stack."""
    return resolve_groups(find("local").config.pools, spot_taint)


@dataclass(frozen=True)
class Rendered:
    """Objects of the component under names of a test's own, so that the cluster's are left alone."""

    prefix: str
    rules: tuple[AdmissionRule, ...]
    groups: tuple[NodeGroup, ...]
    choices: PolicyChoices
    environment: Environment = Environment.DEV

    def objects(self) -> list[Manifest]:
        """Return parameters, policies and bindings, in this order."""
        arguments = AdmissionRulesArgs(
            environment=self.environment, groups=self.groups, choices=self.choices, rules=self.rules
        )
        recorder = record(lambda: AdmissionRules("rules", arguments) and None)
        made = [self._own(r.inputs) for r in recorder.resources if r.type.startswith("kubernetes:")]
        order = ["PolicyParameters", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]
        return sorted((m for m in made if m["kind"] in order), key=lambda m: order.index(m["kind"]))

    def _own(self, inputs: Manifest) -> Manifest:
        # Whole numbers come back from the recorder as floats.
        text = json.dumps(inputs, default=str)
        manifest: Manifest = json.loads(text, parse_float=lambda n: int(float(n)))
        names = {"igz-": f"{self.prefix}-", PARAMETERS_NAME: self.prefix}
        name = manifest["metadata"]["name"]
        manifest["metadata"] = {"name": names.get(name) or name.replace("igz-", f"{self.prefix}-", 1)}
        spec = manifest["spec"]
        if "policyName" in spec:
            spec["policyName"] = spec["policyName"].replace("igz-", f"{self.prefix}-", 1)
        if "paramRef" in spec:
            spec["paramRef"]["name"] = self.prefix
        if constraints := spec.get("matchConstraints"):
            # Kubernetes checks the types of policies that name the versions of what they match, and takes 700 s of CPU
            # for the copies of test_rules_agree.py. The last test there has each rule checked once.
            for matched in constraints["resourceRules"]:
                matched["apiVersions"] = ["*"]
            if "namespaceSelector" in constraints:
                constraints["namespaceSelector"] = {"matchLabels": {"bound-to": self.prefix}}
        return manifest


def short(rules: Iterable[AdmissionRule]) -> tuple[AdmissionRule, ...]:
    """Return ``rules`` as mandatory everywhere, with the id as the whole message, without a link."""
    level = dict.fromkeys((e.value for e in Environment), "mandatory")
    return tuple(replace(rule, title=f"[{rule.id}]", advice="", source="", level=level) for rule in rules)


def namespace(name: str, bound_to: str, **annotations: str) -> Manifest:
    """Return a user namespace to which policies with the prefix ``bound_to`` are bound, and not the cluster's own."""
    labels = {"bound-to": bound_to}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
    }


def account(name: str, namespace_name: str) -> Manifest:
    """Return a service account."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace_name}}


@contextmanager
def present(api: Api, manifests: Iterable[Manifest]) -> Iterator[None]:
    """Create objects, and delete them the other way round."""
    made: list[Manifest] = []
    try:
        for manifest in manifests:
            answer = api.create(manifest)
            assert answer.accepted, (manifest["metadata"]["name"], answer.message)
            made.append(manifest)
        yield
    finally:
        for manifest in reversed(made):
            api.delete(manifest)


@contextmanager
def types_checked(cluster: Cluster) -> Iterator[None]:
    """Let Kubernetes check the types of all policies' expressions, which local clusters leave out."""
    flags = (f"--kubeconfig={cluster.kubeconfig()}", f"--controllers={POLICY_TYPES}", "--leader-elect=false")
    with (cluster.data / "policy-types.log").open("wb") as log, ExitStack() as stack:
        command = [cluster.binary("kube-controller-manager"), *flags, "--secure-port=0"]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        yield


def ready(api: Api, probe: Manifest, says: str) -> None:
    """Wait until a policy answers ``probe`` with a text: the API server learns of new ones within a second."""

    def speaks() -> bool:
        answer = api.create(probe, dryRun="All")
        return any(says in text for text in (answer.message, *answer.warnings))

    eventually(speaks)


USER = {LabelKey.USER_WORKLOADS.value: "true"}
