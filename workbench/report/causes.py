"""Groups findings by cause: one missing key in the stack file may cause a finding at every resource."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from workbench.report.findings import FAILING
from workbench.report.model import Finding

NAMED_MAX: Final = 5
"""Maximum number of resources that a line names; the rest are counted."""


@dataclass(frozen=True)
class Cause:
    """Findings that probably share one fix, judging by their texts.

    Parameters
    ----------
    finding
        The first of them.
    urns
        URNs of all affected resources; the stack's own for a finding about the whole stack.
    """

    finding: Finding
    urns: tuple[str, ...]

    @property
    def is_failing(self) -> bool:
        """Whether it blocks a run."""
        return self.finding.standing in FAILING

    @property
    def elsewhere(self) -> str:
        """Other affected resources, as ``and at 63 more: a, b, ...``; empty if there are none."""
        names = list(dict.fromkeys(_name(urn) for urn in self.urns if urn != self.finding.urn))
        if not names:
            return ""
        listed = ", ".join(names[:NAMED_MAX]) + (", ..." if len(names) > NAMED_MAX else "")
        return f"and at {len(names)} more: {listed}"


def by_cause(findings: Iterable[Finding]) -> list[Cause]:
    """Return the causes of findings, in order of first appearance.

    Findings share a cause if rule, status, remedy and waiver are equal, and their messages differ in resource names
    only.
    """
    groups = defaultdict[tuple[object, ...], list[Finding]](list)
    for each in findings:
        groups[each.rule, each.standing, each.fix, each.waiver, _without_subject(each)].append(each)
    return [Cause(group[0], tuple(dict.fromkeys(each.urn for each in group if each.urn))) for group in groups.values()]


def _without_subject(finding: Finding) -> str:
    """Return the message without the name of its resource, and without the part of the resource that follows it."""
    if not finding.urn:
        return finding.message
    return re.sub(rf"'{re.escape(_name(finding.urn))}'( \([^)]*\))?", "it", finding.message)


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]
