"""Evaluates all rules on what a stack's program declares, in this process and without the engine."""

from dataclasses import dataclass
from typing import Final

from policies.registry import RULES
from workbench.offline.declared import Declared, Message, declared
from workbench.report.causes import Cause, by_cause
from workbench.report.event_payloads import PolicyMessage, Remediation
from workbench.report.findings import findings_of
from workbench.report.model import Finding, FindingStatus
from workbench.stacks import Stack
from workbench.stacks.policy_overrides import pack_configuration

_LEVELS: Final = {True: "mandatory", False: "advisory"}


@dataclass(frozen=True)
class RefusedInput:
    """An input that the cloud's API model or the provider rejects.

    Parameters
    ----------
    urn, path
        Its location.
    reason
        The problem, and what is allowed.
    """

    urn: str
    path: str
    reason: str


@dataclass(frozen=True)
class Checked:
    """Result of checking a stack.

    Parameters
    ----------
    stack
        Its name.
    resources, rules
        How many the program declares, and how many judged them.
    causes
        Findings of the rules, most severe first.
    refused
        Inputs that the cloud would reject.
    not_judged
        What only a preview can evaluate, one sentence each.
    judged
        Ids of the rules that concerned something.
    """

    stack: str
    resources: int
    rules: int
    causes: tuple[Cause, ...]
    refused: tuple[RefusedInput, ...]
    not_judged: tuple[str, ...]
    judged: frozenset[str] = frozenset()

    @property
    def violations(self) -> int:
        """Number of causes that would block an update, including rejected inputs."""
        return len(self.refused) + sum(cause.is_failing for cause in self.causes)

    @property
    def notes(self) -> int:
        """Number of causes that are advisory or waived."""
        return len(self.causes) - sum(cause.is_failing for cause in self.causes)


def check(stack: Stack) -> Checked:
    """Evaluate both packs, with the stack's waivers, on what the program declares.

    Raises
    ------
    StackFileError
        ``policies/overrides.yaml`` is wrong.
    """
    result = declared(stack, pack_configuration(stack.name))
    found = _findings(result)
    return Checked(
        stack=stack.name,
        resources=result.resources,
        rules=len(RULES),
        causes=tuple(by_cause(found)),
        refused=tuple(RefusedInput(each.urn, each.problem.path, each.problem.reason) for each in result.refused),
        not_judged=tuple(_not_judged(stack, result, {cause.standing for cause in found})),
        judged=result.judged,
    )


def findings(stack: Stack) -> list[Finding]:
    """Return the findings about ``stack``, in the form of ``report.findings``."""
    return _findings(declared(stack, pack_configuration(stack.name)))


def _findings(result: Declared) -> list[Finding]:
    return findings_of(
        [_policy_message(message) for message in result.messages],
        [Remediation.model_construct(resource_urn=urn, policy_name=policy) for urn, policy in result.remedied],
    )


def _policy_message(message: Message) -> PolicyMessage:
    return PolicyMessage.model_construct(
        resource_urn=message.urn,
        message=message.text,
        policy_name=message.policy,
        policy_pack_name=message.pack,
        enforcement_level=_LEVELS[message.is_mandatory],
    )


def _not_judged(stack: Stack, result: Declared, statuses: set[FindingStatus]) -> list[str]:
    said = []
    if result.unknown:
        said.append(f"{result.unknown} values that are known only once other resources exist")
    if FindingStatus.UNJUDGED in statuses:
        said.append("rules that need such a value: see the findings that could not be judged")
    if stack.config.cluster.kind == "existing":
        said.append("the nodes and objects of the existing cluster")
    return [*said, "the live stack: what would be replaced or deleted, and whether that is approved"]
