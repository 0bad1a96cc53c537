"""The resources that policies are measured on: our own production stack on EKS, many times, in each tool's input."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import yaml

from infra.config import CONFIG_KEY
from policies.examples import BASES, Given, changed
from policies.registry import RULES
from policies.rule import EachOf
from tools.benchmarks.arena import INFRA, Arena
from tools.benchmarks.recording import observe
from workbench import stacks

STACK: Final = "prod"
"""Name of the stack; its kind of cluster is EKS."""

SERVICES: Final = 25
"""Deployments of users, which a stack does not plan and a state of a team that deploys with Pulumi holds."""

_PREFIXES: Final = {"ec2": "", "autoscaling": "autoscaling_group_"}
"""What stands in Terraform's types in place of Pulumi's module, where that is not the module's own name."""

_MAPS: Final = ("tags", "labels")
"""Inputs whose keys are the user's; any other map is a block in Terraform."""

_BLOCKS: Final = {"taints": "taint"}
"""Blocks that Pulumi calls by their plural, of the types in the estate."""


def planned(arena: Arena) -> list[Given]:
    """Return what the production stack plans, and some services; what only the cloud knows reads ``unknown``."""
    config = stacks.find(STACK).document["config"][CONFIG_KEY]
    declared = observe(arena.offline(INFRA, config=config))["resources"]
    own = [Given(one["type"], one["name"], one["inputs"], {}) for one in declared if _is_real(one["type"])]
    service = yaml.safe_load((BASES / "kubernetes.yaml").read_text(encoding="utf-8"))["deployment"]
    return own + [
        _renamed(Given(service["resource"], service["name"], service["props"], {}), f"-{number:02}")
        for number in range(SERVICES)
    ]


def multiplied(resources: Sequence[Given], copies: int) -> list[Given]:
    """Return the resources ``copies`` times, each time under other names; the first time under their own."""
    suffixes = ["", *(f"-copy-{number}" for number in range(1, copies))]
    return [_renamed(resource, suffix) if suffix else resource for suffix in suffixes for resource in resources]


def looked_at(resources: Iterable[Given]) -> dict[str, int]:
    """Return how many resources each rule checks, by id; a rule about the whole stack counts once."""
    types = [resource.type for resource in resources]
    return {
        rule.id: sum(bool(rule.applies_to.types.fullmatch(token)) for token in types)
        if isinstance(rule.applies_to, EachOf)
        else 1
        for rule in RULES
    }


def state(resources: Iterable[Given]) -> dict[str, Any]:
    """Return the resources as ``pulumi stack export`` writes them, outputs equal to inputs."""
    stack = _urn("pulumi:pulumi:Stack", "igz-clusters-prod")
    entries: list[dict[str, Any]] = [{"urn": stack, "custom": False, "type": "pulumi:pulumi:Stack"}]
    entries += [
        {"urn": _provider(cloud), "custom": True, "id": cloud, "type": f"pulumi:providers:{cloud}", "parent": stack}
        for cloud in ("aws", "kubernetes")
    ]
    entries += [
        {
            "urn": _urn(resource.type, resource.name),
            "custom": True,
            "id": resource.name,
            "type": resource.type,
            "inputs": resource.props,
            "outputs": resource.props,
            "parent": stack,
            "provider": f"{_provider(cloud)}::{cloud}",
        }
        for resource in resources
        for cloud in [resource.type.partition(":")[0]]
    ]
    return {"version": 3, "deployment": {"manifest": {}, "resources": entries}}


def terraform_plan(resources: Iterable[Given]) -> dict[str, Any]:
    """Return the AWS resources as ``terraform show -json`` shows a plan that makes them."""
    made, changes = [], []
    for resource in resources:
        if resource.type.startswith("aws:"):
            kind, values = terraform_type(resource.type), _terraform(resource.props)
            place = {"address": f"{kind}.{resource.name}", "mode": "managed", "type": kind, "name": resource.name}
            change = {"actions": ["create"], "before": None, "after": values, "after_unknown": {}}
            made.append({**place, "values": values})
            changes.append({**place, "change": change})
    return {
        "format_version": "1.2",
        "terraform_version": "1.9.0",
        "planned_values": {"root_module": {"resources": made}},
        "resource_changes": changes,
    }


def manifests(resources: Iterable[Given]) -> list[Mapping[str, Any]]:
    """Return the objects of the cluster as manifests."""
    return [_manifest(resource) for resource in resources if not resource.type.startswith("aws:")]


def terraform_type(token: str) -> str:
    """Return Terraform's type of a Pulumi type token of AWS, such as ``aws_eks_node_group``."""
    _, module, _, name = re.split("[/:]", token)
    return f"aws_{_PREFIXES.get(module, f'{module}_')}{_snake(name)}"


def _is_real(token: str) -> bool:
    """Return whether a type is of a cloud or cluster, not a component or provider."""
    return token.startswith(("aws:", "kubernetes:"))


def _renamed(resource: Given, suffix: str) -> Given:
    name = f"{resource.name}{suffix}"
    metadata = resource.props.get("metadata")
    props = (
        changed(resource.props, {"metadata": {"name": f"{metadata['name']}{suffix}"}}) if metadata else resource.props
    )
    return replace(resource, name=name, props=props)


def _manifest(resource: Given) -> Mapping[str, Any]:
    # A base of the rules' examples does not name what its type token says.
    _, group, kind = resource.type.split(":")
    return {"apiVersion": group.removeprefix("core/"), "kind": kind, **resource.props}


def _terraform(value: Any) -> Any:
    if isinstance(value, list):
        return [_terraform(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {
        _BLOCKS.get(key, _snake(key)): [_terraform(one)]
        if isinstance(one, Mapping) and key not in _MAPS
        else one
        if key in _MAPS
        else _terraform(one)
        for key, one in value.items()
    }


def _snake(words: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower()


def _provider(cloud: str) -> str:
    return _urn(f"pulumi:providers:{cloud}", cloud)


def _urn(token: str, name: str) -> str:
    return f"urn:pulumi:{STACK}::igz-clusters::{token}::{name}"
