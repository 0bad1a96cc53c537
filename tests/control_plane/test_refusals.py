"""What the API server refuses by itself, so that no admission policy says it once more."""

import re

import pytest

from policies.examples import Example, load
from support.cluster import Cluster

pytestmark = pytest.mark.control_plane

REFUSED = [example for example in load() if example.rule in ("RS-02", "RS-07")]


def create(cluster: Cluster, example: Example) -> str:
    """Return the API server's complaint about an example's object, empty if it has none."""
    [given] = example.resources
    _, version, kind = given.type.split(":")
    template = given.props["spec"].get("template", given.props)
    # The account does not exist, which would be the first complaint; core services may leave the user pools.
    spec = {key: value for key, value in template["spec"].items() if key != "serviceAccountName"}
    marked = {
        **template["metadata"],
        "labels": {**template["metadata"]["labels"], "igz-clusters.io/core-service": "true"},
    }
    told = {**template, "metadata": marked, "spec": spec}
    manifest = told if template is given.props else {**given.props, "spec": {**given.props["spec"], "template": told}}
    header = {"apiVersion": version.removeprefix("core/"), "kind": kind}
    return cluster.apply({**manifest, **header}, "--dry-run=server", check=False).stderr


@pytest.mark.parametrize("example", [e for e in REFUSED if e.kind == "bad"], ids=lambda e: f"{e.rule}/{e.name}")
def test_what_breaks_the_rule_is_invalid(cluster: Cluster, example: Example) -> None:
    assert re.search("is invalid: .*resources|quantities must match", create(cluster, example), re.DOTALL)


@pytest.mark.parametrize("example", [e for e in REFUSED if e.kind == "good"], ids=lambda e: f"{e.rule}/{e.name}")
def test_what_keeps_the_rule_is_not(cluster: Cluster, example: Example) -> None:
    assert create(cluster, example) == ""
