"""What a rule is. Rule files and everything they read stay free of the policy SDK."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from components.contract.environments import Environment, PlatformProfile
from policies.resource import Resource

S = TypeVar("S")
"""What a rule looks at: a resource, a node group, a priority class, a stack."""


class Level(StrEnum):
    """What a violation does to the run."""

    MANDATORY = "mandatory"
    """It fails the preview and the update."""

    ADVISORY = "advisory"
    """It is printed."""

    OFF = "off"
    """The rule does not apply in this environment."""


class Severity(StrEnum):
    """How bad the consequence is; shown with a violation, without effect on the run."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Pack(StrEnum):
    """Which policy pack a rule ships in; the name of the folder under ``policies/packs``."""

    BEST_PRACTICES = "best_practices"
    """What Iguazio's documents ask of a cluster."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may know besides the resource."""

    environment: Environment
    profile: PlatformProfile


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation: what is wrong, with the value found and the value wanted."""

    message: str
    advice: bool = False
    """Whether it is a recommendation, which never fails a run whatever the rule's level."""
    urn: str = ""
    """Resource at fault. Needed in stack rules only; empty there means the whole stack."""


@dataclass(frozen=True, slots=True)
class EachOf(Generic[S]):
    """Scope of a rule that judges things inside one resource, before the resource is made."""

    noun: str
    types: re.Pattern[str]
    """Type tokens of the resources that can hold such a thing."""
    find: Callable[[Resource], Iterable[S]]
    concerns: Callable[[S], bool] = lambda _: True
    """Whether the rule is about this very thing."""


@dataclass(frozen=True, slots=True)
class WholeStack:
    """Scope of a rule that compares resources with each other. Such rules are slow: keep them few."""

    noun: str = "the stack"


MANDATORY_EVERYWHERE: Final[Mapping[Environment, Level]] = dict.fromkeys(Environment, Level.MANDATORY)
"""Level of most rules: mandatory in development and in production."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[S]):
    """One rule: the fact it demands, where, how firmly, and why."""

    id: str
    """Stable and never reused, such as ``NG-07``."""
    slug: str
    """The fact that holds when the rule is kept, as words joined by ``-``."""
    title: str
    """The same fact as a sentence."""
    severity: Severity
    level: Mapping[Environment, Level]
    source: str
    """Document and section that ask for it, in our own words."""
    applies_to: EachOf[S] | WholeStack
    why: str
    fix: str
    """What to change, as an order to the reader."""
    check: Callable[[S, Context], Iterator[Finding]]
    """Yields a finding for each thing that is wrong; raises ``NotJudgeableError`` where it cannot tell."""
    advises: bool = False
    """Whether some of its findings are advice below the rule's own level."""
    pack: Pack = Pack.BEST_PRACTICES

    @property
    def anchor(self) -> str:
        """Anchor in the reference page, and the folder of the rule's examples."""
        return self.id.lower()

    @property
    def name(self) -> str:
        """Name of the policy in reports and in the configuration file."""
        return f"{self.anchor}-{self.slug}"
