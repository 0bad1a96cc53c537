"""Scratch rules bound to a strict and a lenient namespace of a live cluster, and requests that meet them."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from components.contract.policy_choices import PolicyChoices
from support.admission import (
    Manifest,
    Rendered,
    local_groups,
    namespace,
    present,
    ready,
    rules_at_admission,
)
from support.api import Api
from support.cluster import Cluster, eventually, pod
from support.scratch_rules import DATA_NODE, REGISTRY, SCRATCH, TOO_HIGH

STRICT, LENIENT = "strict", "lenient"
DENY, WARN = (PolicyChoices.model_validate({"admission": mode}) for mode in ("deny", "warn"))
BAD, GOOD = "example.invalid/image", f"{REGISTRY}image"
DRY = {"dryRun": "All"}
VAP = "/apis/admissionregistration.k8s.io/v1"


@contextmanager
def scratch_rules_bound(cluster: Cluster) -> Iterator[Api]:
    """Bind scratch rules to a strict and a lenient namespace."""
    api = Api(cluster.kubeconfig())
    # Data nodes are kept by the cluster's own rule: of two policies that refuse, the API server lets one speak.
    rules = rules_at_admission(rule for rule in SCRATCH if rule is not DATA_NODE)
    pod_rules = tuple(rule for rule in rules if rule.subject == "pods")
    objects = [
        *(namespace(name, name) for name in (STRICT, LENIENT)),
        *Rendered(STRICT, rules, local_groups(), DENY).objects(),
        *Rendered(LENIENT, pod_rules, local_groups(), WARN).objects(),
    ]
    for name in (STRICT, LENIENT):  # those of a former module may still be going
        eventually(lambda path=f"/api/v1/namespaces/{name}": api.send("GET", path).status == HTTPStatus.NOT_FOUND)
    with present(api, objects):
        for name in (STRICT, LENIENT):
            ready(api, simple(BAD, name), f"'{name}-pods-mandatory'")
            ready(api, simple(BAD, name), f"'{name}-pods-advisory'")
        ready(api, deployment(BAD), f"'{STRICT}-pods-mandatory-foretold'")
        ready(api, TOO_HIGH, f"'{STRICT}-priorityclasses-mandatory'")
        yield api


def simple(image: str, where: str = STRICT, name: str = "probe", **spec: Any) -> Manifest:
    """Return a pod with one container."""
    made = pod(name, namespace=where, **spec)
    made["spec"]["containers"][0]["image"] = image
    return made


def template(image: str) -> Manifest:
    spec = {**simple(image)["spec"], "restartPolicy": "Always"}
    return {"metadata": {"labels": {"app": "x"}}, "spec": spec}


def deployment(image: str, where: str = STRICT) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": where},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template(image)},
    }
