"""Model of a rule. Rule files and everything they import stay independent of the policy SDK."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final, Generic, TypeVar

from components.contract.environments import Environment, PlatformProfile
from components.contract.policy_choices import PolicyChoices
from policies.remediation import Draft
from policies.resource import Resource

S = TypeVar("S")
"""Subject of a rule: a resource, a node group, a priority class, a stack."""


class Level(StrEnum):
    """Effect of a violation on the run."""

    MANDATORY = "mandatory"
    """Fails the preview and the update."""

    ADVISORY = "advisory"
    """Printed only."""

    OFF = "off"
    """The rule does not apply in this environment."""


STRICTNESS: Final = (Level.OFF, Level.ADVISORY, Level.MANDATORY)
"""All levels, strictest last."""


class Severity(StrEnum):
    """Severity of the consequence; shown with a violation, but without effect on the run."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Pack(StrEnum):
    """Policy pack of a rule; also the name of its folder under ``policies/packs``."""

    BEST_PRACTICES = "best_practices"
    """Requirements of Iguazio's documents."""

    HARDENING = "hardening"
    """Further requirements of security benchmarks and cloud guides; ids that start with ``H``."""


@dataclass(frozen=True, slots=True)
class Context:
    """Facts about the stack that a rule can use besides the resource."""

    environment: Environment
    profile: PlatformProfile
    today: date
    """Date of the check, in UTC."""
    choices: PolicyChoices = field(default_factory=lambda: PolicyChoices.model_validate({}))
    """The section ``policies`` of the stack file."""
    namespaces: frozenset[str] | None = None
    """User namespaces of the stack file; None without a stack file, as in ``policy analyze``."""
    user_pools: frozenset[str] | None = None
    """Pools of the stack file that user work may run on; None if no pool is listed."""
    gpu_pools: frozenset[str] | None = None
    """Those of them whose nodes have GPUs; None if no pool is listed."""
    spot_taint_keys: tuple[str, ...] | None = None
    """Keys of the taints of its spot pools; None if no pool is listed."""
    gpu_resources: tuple[str, ...] = ()
    """Names under which pools of the stack file offer GPUs, if it sets any."""
    gives_places: bool = False
    """Whether the API server sets the placement of user pods that chose none; False without a stack file."""
    block_pools: frozenset[str] = frozenset()
    """Pools whose machines are of a capacity block, which ends; none without a stack file."""
    job_accounts: frozenset[tuple[str, str]] = frozenset()
    """Namespace and name of each service account with a cloud identity; none without a stack file."""
    corrected_gpus: tuple[str, ...] = ()
    """GPU resources: for pods that request one, the API server corrects the selected role; empty if for none."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation: what is wrong, with the value found and the value expected."""

    message: str
    advice: bool = False
    """Whether it is a recommendation, which never fails a run, regardless of the rule's level."""
    urn: str = ""
    """Resource at fault. For stack rules only; empty means the whole stack."""


@dataclass(frozen=True, slots=True)
class EachOf(Generic[S]):
    """Scope of a rule about items in one resource, checked before the resource is created."""

    noun: str
    types: re.Pattern[str]
    """Type tokens of the resources that can contain such an item."""
    find: Callable[[Resource], Iterable[S]]
    concerns: Callable[[S, Context], bool] = lambda _, __: True
    """Whether the rule applies to this item."""


def resources_of(noun: str, *types: str) -> EachOf[Resource]:
    """Return the scope of a rule about resources themselves, by the patterns of their type tokens."""
    return EachOf(noun=noun, types=re.compile("|".join(types)), find=lambda resource: (resource,))


@dataclass(frozen=True, slots=True)
class WholeStack:
    """Scope of a rule that compares resources with each other. Such rules are slow: keep them few."""

    noun: str = "the stack"


class Subject(StrEnum):
    """Objects that admission rules check."""

    PODS = "pods"
    """Pods of user namespaces when they are created or their ``spec`` changes, and the templates of controllers."""

    PRIORITY_CLASSES = "priorityclasses"
    """Priority classes when created or changed, cluster-wide."""

    NODES = "nodes"
    """Nodes that are ready, when deleted without the platform role, cluster-wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The rule in CEL, for the API server: either ``expression`` or ``culprits``."""

    expression: str = ""
    """True if the object complies.

    For pods over ``variables.spec`` and ``variables.metadata`` (of the pod, or of a controller's template),
    ``variables.containers`` (all kinds of containers in one list), ``variables.placed`` (the object already exists, so
    a pod's ``nodeName`` is the scheduler's choice), ``namespaceObject``, ``params.spec``, whose fields are those of
    ``components.contract.policy_parameters.PolicyParameters``, and the variables of ``rule_variables`` there. For
    other subjects it uses ``object``, ``oldObject`` and ``params.spec``.
    """
    culprits: str = ""
    """List of texts, each naming a part of the object that violates the rule, such as ``container main (image a:1)``.

    The object complies if it is empty. It uses the same variables.
    """
    subject: Subject = Subject.PODS
    spares_core_services: bool = True
    """Whether pods with the core-service label are exempt."""
    concerns_place: bool = False
    """Whether it is about the nodes that pods select; authors who may choose any node can be exempt."""


MANDATORY_EVERYWHERE: Final[Mapping[Environment, Level]] = dict.fromkeys(Environment, Level.MANDATORY)
"""Level of most rules: mandatory in development and in production."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule(Generic[S]):
    """One rule: what it requires, where, at which level, and why. Equal to itself alone, so it can be a key."""

    id: str
    """Stable and never reused, such as ``NG-07``."""
    slug: str
    """The requirement, as words joined by ``-``."""
    title: str
    """The requirement as a sentence."""
    severity: Severity
    level: Mapping[Environment, Level]
    source: str
    """Document and section that require it, in our own words."""
    applies_to: EachOf[S] | WholeStack
    why: str
    fix: str
    """The change that fixes a violation, as an instruction."""
    check: Callable[[S, Context], Iterator[Finding]]
    """Yields a finding per violation; raises ``NotJudgeableError`` if a value is unknown."""
    admission: Admission | None = None
    """The same rule at admission; None if it needs several objects, or an object outside the cluster."""

    remedy: Callable[[Draft, Context], None] | None = None
    """Fixes a resource in place, only if a stack requests it; None if it must be fixed by hand."""

    @property
    def pack(self) -> Pack:
        """Pack that the rule ships in."""
        return Pack.HARDENING if self.id.startswith("H") else Pack.BEST_PRACTICES

    @property
    def declared_level(self) -> Level:
        """Level for the engine: the strictest of all environments."""
        return max(self.level.values(), key=STRICTNESS.index)

    @property
    def anchor(self) -> str:
        """Anchor in the reference page; the file of the rule's examples is named the same."""
        return self.id.lower()

    @property
    def name(self) -> str:
        """Name of the policy in reports and in the configuration file."""
        return f"{self.anchor}-{self.slug}"
