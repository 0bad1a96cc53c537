"""Declares the resources of a JSON file one by one, with the SDK's own classes and no component of this project.

What a user would write by hand, without the loop: each resource its class, its inputs and its provider; what lives
in a declared namespace waits for that namespace.
"""  # noqa: INP001 run as a folder by the engine

import json
import os
import re
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pulumi
from pulumi_kubernetes import Provider
from pulumi_kubernetes.apiextensions import CustomResource

KUBERNETES = re.compile(r"kubernetes:([a-z]+)[a-z0-9.]*/(v\w+):(\w+)")


def resource_class(token: str, inputs: dict[str, Any]) -> Any:
    """Return the SDK's class of a type token such as ``kubernetes:core/v1:Node``; that for any type if it has none."""
    if known := re.fullmatch(KUBERNETES, token):
        group, version, kind = known.groups()
        if made := getattr(import_module(f"pulumi_kubernetes.{group}.{version}"), kind, None):
            return made
    return partial(CustomResource, api_version=inputs["apiVersion"], kind=inputs["kind"])


def arguments(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return inputs as the class's keyword arguments."""
    return {re.sub(r"(?<!^)(?=[A-Z])", "_", key).lower(): value for key, value in inputs.items()}


resources: list[dict[str, Any]] = json.loads(Path(os.environ["IGZ_BENCHMARK_RESOURCES"]).read_text())
provider = Provider("plain", kubeconfig=os.environ["IGZ_CLUSTERS_LOCAL_KUBECONFIG"], cluster_identifier="plain")
namespaces: dict[str, pulumi.Resource] = {}
for declared in resources:
    inputs = dict(declared["inputs"])
    make = resource_class(declared["type"], inputs)
    inputs = {key: value for key, value in inputs.items() if key not in {"apiVersion", "kind"}}
    inside = namespaces.get(inputs["metadata"].get("namespace"))
    options = pulumi.ResourceOptions(provider=provider, depends_on=[inside] if inside else None)
    made = make(declared["name"], **arguments(inputs), opts=options)
    if declared["type"] == "kubernetes:core/v1:Namespace":
        namespaces[inputs["metadata"]["name"]] = made
