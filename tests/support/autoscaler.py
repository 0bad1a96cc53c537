"""How the Cluster Autoscaler reads the tags of an Auto Scaling group, written again from its source.

``cloudprovider/aws/aws_manager.go``: extractLabelsFromAsg, extractTaintsFromAsg, extractAllocatableResourcesFromAsg,
parseASGAutoDiscoverySpec, in the module version that ``toolchain/cluster-autoscaler`` pins.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_PREFIX = "k8s.io/cluster-autoscaler/node-template"
_EFFECT = re.compile(r"(.*):(?:NoSchedule|NoExecute|PreferNoSchedule)")


@dataclass(frozen=True)
class TemplateTaint:
    """A taint as the autoscaler would give it to a node that does not exist yet."""

    key: str
    value: str
    effect: str


@dataclass
class NodeTemplate:
    """What the autoscaler believes of the nodes of an empty group."""

    labels: dict[str, str] = field(default_factory=dict)
    taints: list[TemplateTaint] = field(default_factory=list)
    resources: dict[str, str] = field(default_factory=dict)


def node_template(tags: Mapping[str, str]) -> NodeTemplate:
    """Return the node that the tags describe. What does not parse is dropped without a word, as there."""
    template = NodeTemplate()
    for key, value in tags.items():
        parts = key.split(f"{_PREFIX}/label/")
        if len(parts) <= 1:
            parts = key.split("eks:")
        if len(parts) > 1 and parts[1]:
            template.labels[parts[1]] = value
        parts = key.split(f"{_PREFIX}/taint/")
        if len(parts) > 1 and _EFFECT.search(value):
            taint_value, _, effect = value.partition(":")
            template.taints.append(TemplateTaint(parts[1], taint_value, effect))
        parts = key.split(f"{_PREFIX}/resources/")
        if len(parts) > 1 and parts[1] and re.fullmatch(r"[0-9.]+([KMGT]i?|m|k)?", value):
            template.resources[parts[1]] = value
    return template


def is_discovered(flag: str, tags: Mapping[str, str]) -> bool:
    """Return whether ``--node-group-auto-discovery=asg:tag=...`` finds a group with ``tags``.

    EKS adds tags of its own to each managed group, which the usual discovery looks for.
    """
    all_tags = {**tags, "k8s.io/cluster-autoscaler/enabled": "true"}
    wanted = dict(part.partition("=")[::2] for part in flag.partition("asg:tag=")[2].split(","))
    return all(key in all_tags and value in ("", all_tags[key]) for key, value in wanted.items())
