"""Parameters of the admission rules, derived from the pools and the stack file."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pydantic import ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from components.contract.clusters import SPOT_TAINTS
from components.contract.groups import NodeGroup, gpu_names, has_open_spot
from components.contract.labels import OWN_DOMAIN, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.policy_choices import PolicyChoices
from components.contract.priorities import USER_PRIORITY_LIMIT, UserPriority

_ABOUT: Final = (
    "Parameters of the admission rules: the ``spec`` of the cluster's one parameter object.\n\n"
    "CEL reads a field by its camelCase name, such as ``params.spec.gpuResources``."
)
"""Description of the schema; with ``PYTHONOPTIMIZE`` there is no docstring to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyParameters:
    """Parameters of the admission rules: the ``spec`` of the cluster's one parameter object.

    CEL reads a field by its camelCase name, such as ``params.spec.gpuResources``.
    """

    # The fields are those of 0.2.0: the preview of an update validates the object with the schema in the cluster, and
    # fails for a new field. ``rule_variables`` has later additions.

    __pydantic_config__: ClassVar = ConfigDict(alias_generator=to_camel, use_attribute_docstrings=True)

    user_pools: tuple[str, ...]
    """Names of the pools that user work may run on."""
    user_classes: tuple[str, ...]
    """Priority classes that user work may name."""
    max_user_priority: int
    """Upper limit of the values of user classes."""
    spot_taint_keys: tuple[str, ...]
    """Keys of the taints of spot nodes; empty if they have none."""
    has_untainted_spot: bool
    """Whether there are spot nodes without a taint, so that pods must select a lifecycle themselves."""
    gpu_resources: tuple[str, ...]
    """Names under which GPUs are requested; also the keys of the GPU nodes' taints."""
    elastic_pools: tuple[str, ...]
    """Names of the pools whose size the autoscaler changes."""
    approved_registries: tuple[str, ...]
    """Prefixes that images may have; empty accepts any."""
    jupyter_services: tuple[str, ...]
    """Names of the Jupyter services that production may run."""


PARAMETERS_NAME: Final = "igz-clusters"
"""Name of the cluster's one parameter object."""

PARAMETERS_PLURAL: Final = "policyparameters"
PARAMETERS_KIND: Final = {"apiVersion": f"{OWN_DOMAIN}/v1", "kind": "PolicyParameters"}

_PARAMETERS: Final = TypeAdapter(PolicyParameters)


def policy_parameters(groups: Iterable[NodeGroup], choices: PolicyChoices) -> PolicyParameters:
    """Return the parameters of the admission rules for these groups and choices."""
    groups = tuple(groups)
    spot = [group for group in groups if group.lifecycle is Lifecycle.SPOT]
    gpu_resources = gpu_names(groups)
    return PolicyParameters(
        user_pools=_pools(group for group in groups if group.holds_user_work),
        user_classes=tuple(tier.value for tier in UserPriority),
        max_user_priority=USER_PRIORITY_LIMIT,
        spot_taint_keys=_distinct(taint.key for group in spot for taint in group.taints if taint in SPOT_TAINTS),
        has_untainted_spot=has_open_spot(groups),
        gpu_resources=gpu_resources,
        elastic_pools=_pools(group for group in groups if group.is_elastic),
        approved_registries=choices.approved_registries,
        jupyter_services=choices.jupyter_services,
    )


def rule_variables(groups: Iterable[NodeGroup], choices: PolicyChoices) -> dict[str, str]:
    """Return further variables of the rules about pods, each a list of text.

    ``gpuPools`` are the names of the pools whose nodes have GPUs, ``platformRegistries`` the prefixes of images that
    the platform builds.
    """
    lists = {
        "gpuPools": _pools(group for group in groups if group.gpu_resource),
        "platformRegistries": choices.platform_registries,
    }
    return {name: json.dumps(words) for name, words in lists.items()}  # a list in JSON is one in CEL


def parameters_spec(parameters: PolicyParameters) -> dict[str, Any]:
    """Return the ``spec`` of the parameter object."""
    spec: dict[str, Any] = _PARAMETERS.dump_python(parameters, mode="json", by_alias=True)
    return spec


def parameters_schema() -> dict[str, Any]:
    """Return the OpenAPI schema of the parameter object's ``spec``."""
    schema = _PARAMETERS.json_schema()
    return {"description": _ABOUT, **{key: schema[key] for key in ("type", "properties", "required")}}


def _pools(groups: Iterable[NodeGroup]) -> tuple[str, ...]:
    # A pool may have several groups, which its nodes do not name.
    return _distinct(group.labels[LabelKey.POOL] for group in groups)


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
