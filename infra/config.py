"""The stack file as typed, validated choices."""

import difflib
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from components.contract.eks import EksChoices
from components.contract.eks_checks import mismatches
from components.contract.environments import ClusterKind, Environment, PlatformProfile, ServerOwner
from components.contract.groups import node_groups
from components.contract.labels import is_dns_label
from components.contract.namespaces import UserNamespace
from components.contract.pod_resources import DEFAULT_POD_RESOURCES, MAX_LIMIT_REQUEST_RATIO, PodResources
from components.contract.pools import POOL_NAME_MAX, ContractModel, NodePool, PoolRole
from components.contract.taints import spot_taint

SCHEMA_VERSION = 1
PROD_INITIAL_MIN = 2
"""Initial nodes that production needs at least, for high availability (Iguazio best practices, production cluster)."""


class ConfigurationError(Exception):
    """All problems of one stack file, a line each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class LocalClusterChoices(ContractModel):
    """A cluster on this machine: real control plane, simulated nodes."""

    kind: Literal["local"]


class StackConfig(ContractModel):
    """Everything that a stack file may say, under ``igz-clusters:stack``."""

    schema_version: Literal[1] = Field(description="Version of this layout.")
    environment: Environment = Field(description="What the cluster is for; one per cluster.")
    profile: PlatformProfile = Field(PlatformProfile.MLRUN_CE, description="Which platform will run on it.")
    servers: ServerOwner | None = Field(None, description="With profile iguazio only: who makes the servers.")
    cluster: LocalClusterChoices | EksChoices = Field(discriminator="kind", description="Where the cluster lives.")
    pools: dict[str, NodePool] = Field(min_length=1, description="Node pools by name.")
    namespaces: dict[str, UserNamespace] = Field(
        default_factory=lambda: {"mlrun": UserNamespace.model_validate({"coreServices": True})},
        description="User namespaces by name.",
    )
    default_pod_resources: PodResources | None = Field(
        None, description="Requests and limits of containers that name none; the default follows the environment."
    )

    @field_validator("schema_version", mode="before")
    @classmethod
    def _is_a_plain_number(cls, value: Any) -> Any:
        if type(value) is not int:  # `true` and `1.0` equal 1, and mean something else
            raise ValueError(f"must be the number {SCHEMA_VERSION}")
        return value

    @field_validator("pools", mode="after")
    @classmethod
    def _pool_names(cls, pools: dict[str, NodePool]) -> dict[str, NodePool]:
        bad = [n for n in pools if not (n.isascii() and n.isalnum() and n.islower() and n[0].isalpha())]
        long = [n for n in pools if len(n) > POOL_NAME_MAX]
        if bad:
            raise ValueError(f"pool names {bad} must be lower-case letters and digits, a letter first")
        if long:
            raise ValueError(f"pool names {long} are longer than {POOL_NAME_MAX} characters, the limit of AKS")
        return pools

    @field_validator("namespaces", mode="after")
    @classmethod
    def _namespace_names(cls, namespaces: dict[str, UserNamespace]) -> dict[str, UserNamespace]:
        illegal = [n for n in namespaces if not is_dns_label(n)]
        if illegal:
            raise ValueError(
                f"namespaces {illegal} must be 1 to 63 lower-case letters, digits or '-', not '-' at an end"
            )
        reserved = [n for n in namespaces if n == "default" or n.startswith("kube-")]
        if reserved:
            raise ValueError(f"namespaces {reserved} belong to Kubernetes; choose other names")
        return namespaces

    @model_validator(mode="after")
    def _follows_its_environment(self) -> Self:
        problems = [*self._initial_problems(), *self._server_problems()]
        resources = self.pod_resources
        bound = MAX_LIMIT_REQUEST_RATIO[self.environment]
        if bound and resources.ratio > bound:
            problems.append(f"RS-05: in {self.environment} defaultPodResources.limits may be {bound} times requests")
        if self.environment is Environment.PROD and not resources.is_guaranteed:
            problems.append("RS-03: in prod defaultPodResources.requests must equal limits (guaranteed QoS)")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _initial_problems(self) -> list[str]:
        initial = [pool for pool in self.pools.values() if pool.role is PoolRole.INITIAL]
        if len(initial) != 1:
            return [f"NG-02: a stack has exactly one pool of role 'initial', given {len(initial)}"]
        size = initial[0].size
        if self.environment is Environment.PROD and size.min < PROD_INITIAL_MIN:
            return [f"NG-06: in prod the initial pool has at least {PROD_INITIAL_MIN} nodes, given {size.min}"]
        return []

    def _server_problems(self) -> list[str]:
        if self.profile is PlatformProfile.MLRUN_CE:
            return ["servers goes with profile 'iguazio' only; drop it"] if self.servers else []
        if self.servers is None:
            return ["profile 'iguazio' must say who makes the servers: servers: provazio (its installer) or pulumi"]
        if self.servers is ServerOwner.PROVAZIO:
            if isinstance(self.cluster, EksChoices):
                return ["this stack makes the cluster's servers itself: with cluster.kind 'eks' set servers: pulumi"]
            return ["a local cluster has no installer: with cluster.kind 'local' set servers: pulumi"]
        return []

    @property
    def pod_resources(self) -> PodResources:
        """Requests and limits of containers that name none."""
        return self.default_pod_resources or DEFAULT_POD_RESOURCES[self.environment]


def parse(document: Mapping[str, Any]) -> StackConfig:
    """Return the choices in ``document``, the value of ``igz-clusters:stack``.

    Raises
    ------
    ConfigurationError
        With every problem at once: path, what is wrong, what was given, and the nearest known key.
    """
    try:
        config = StackConfig.model_validate(document)
    except ValidationError as error:
        raise ConfigurationError([_problem(detail, document) for detail in error.errors(include_url=False)]) from None
    if isinstance(config.cluster, EksChoices):
        groups = node_groups(config.pools, spot_taint(ClusterKind.EKS, config.profile))
        if problems := [f"{path}: {message}" for path, message in mismatches(config.cluster, groups)]:
            raise ConfigurationError(problems)
    return config


def _problem(detail: ErrorDetails, document: Mapping[str, Any]) -> str:
    path = ".".join(_without_kinds(detail["loc"], document)) or "stack"
    if detail["type"] == "union_tag_not_found":
        return f"{path}.kind: Field required"
    if detail["type"] == "union_tag_invalid":
        return f"{path}.kind: must be one of {detail['ctx']['expected_tags']} (given: {detail['ctx']['tag']!r})"
    if detail["type"] == "extra_forbidden":
        return f"{path}: unknown key{_nearest(detail['loc'])}"
    message = "must be a mapping" if detail["type"] in _NOT_A_MAPPING else detail["msg"].removeprefix("Value error, ")
    given = detail["input"]
    shown = "" if isinstance(given, Mapping | BaseModel) or detail["type"] == "missing" else f" (given: {given!r})"
    return f"{path}: {message}{shown}"


def _without_kinds(location: tuple[int | str, ...], document: object) -> list[str]:
    """Return ``location`` without the names of union members, which pydantic puts between the document's keys."""
    path, here = [], document
    for part in location:
        if isinstance(here, Mapping) and part not in here and part == here.get("kind"):
            continue
        path.append(str(part))
        if isinstance(here, Mapping):
            here = here.get(part)
        elif isinstance(here, list | tuple) and isinstance(part, int):
            here = here[part] if part < len(here) else None
    return path


_NOT_A_MAPPING = ("model_type", "model_attributes_type", "dict_type")


def _nearest(location: tuple[int | str, ...]) -> str:
    known = sorted(_keys_at(StackConfig, location[:-1]))
    match = difflib.get_close_matches(str(location[-1]), known, n=1)
    return f"; did you mean '{match[0]}'?" if match else f"; allowed here: {', '.join(known)}"


def _keys_at(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the model at ``location`` knows, following models inside mappings and unions."""
    schema: Any = model.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})
    for part in location:
        members = schema.get("discriminator", {}).get("mapping", {})
        if part in members:
            schema = definitions[members[part].rpartition("/")[2]]
            continue
        for option in (schema, *schema.get("anyOf", ()), *schema.get("allOf", ())):
            option = definitions.get(option.get("$ref", "").rpartition("/")[2], option)  # noqa: PLW2901 follow the reference
            step = option.get("properties", {}).get(str(part), option.get("additionalProperties"))
            if isinstance(step, dict):
                schema = step
                break
    options = (schema, *schema.get("anyOf", ()))
    resolved = [definitions.get(option.get("$ref", "").rpartition("/")[2], option) for option in options]
    return [key for option in resolved for key in option.get("properties", {})]
