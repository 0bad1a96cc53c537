"""The fields of the operator's objects: from the file of the release, without what is left out."""

import hashlib
import json
from typing import Any

import pytest
import yaml

from tools.facts import pulumi_operator
from tools.facts.pulumi_operator import FILE, RELEASE, TARGET, definition


def crd() -> dict[str, Any]:
    leaf = {"type": "string", "description": "words"}
    template = {
        "properties": {
            "metadata": {"properties": {"name": leaf}},
            "spec": {
                "properties": {"podTemplate": {"properties": {"spec": {"properties": {"a": leaf}}}}, "image": leaf}
            },
            "status": {"properties": {"a": leaf}},
        }
    }
    spec = {"properties": {"description": leaf, "workspaceTemplate": template}, "description": "words"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [],
        "schema": {"openAPIV3Schema": {"properties": {"spec": spec, "status": {"properties": {"a": leaf}}}}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "stacks.pulumi.com"},
        "spec": {
            "group": "pulumi.com",
            "names": {"kind": "Stack"},
            "scope": "Namespaced",
            "versions": [version, {**version, "name": "v1alpha1"}],
        },
    }


def test_descriptions_and_what_we_do_not_write_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = yaml.safe_dump(crd()).encode()
    monkeypatch.setattr(pulumi_operator, "DIGEST", hashlib.sha256(text).hexdigest())
    found = definition(text)
    (version,) = found["spec"]["versions"]
    properties = version["schema"]["openAPIV3Schema"]["properties"]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert version["name"] == "v1"
    assert properties["status"] == anything
    assert properties["spec"]["properties"]["description"] == {"type": "string"}, "a field of that name stays"
    template = properties["spec"]["properties"]["workspaceTemplate"]["properties"]
    assert template["spec"]["properties"]["podTemplate"]["properties"]["spec"] == anything
    assert template["spec"]["properties"]["image"] == {"type": "string"}
    assert '"words"' not in json.dumps(found)


def test_another_file_is_refused() -> None:
    with pytest.raises(ValueError, match=f"{FILE} has the digest [0-9a-f]{{64}}, and {RELEASE} has "):
        definition(b"kind: CustomResourceDefinition\n")


def test_the_kept_file_is_of_the_release() -> None:
    kept = json.loads(TARGET.read_text())
    assert kept["metadata"] == {"name": "stacks.pulumi.com", "annotations": {"release": RELEASE, "file": FILE}}
