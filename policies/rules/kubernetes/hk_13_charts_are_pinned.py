"""HK-13: the same program installs the same chart tomorrow."""

import re
from collections.abc import Iterator
from typing import Final

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, EachOf, Finding, Rule, Severity
from policies.values import NotJudgeableError

EXACT: Final = re.compile(r"v?\d+\.\d+\.\d+([-+][-+.0-9A-Za-z]+)?")
"""One version. Everything else that Helm accepts is a range: https://helm.sh/docs/topics/charts/."""

LOCAL: Final = re.compile(r"\.{0,2}/.*|.*\.tgz")
"""Charts beside the program or in an archive, which are what they are."""


def check(release: Resource, _: Context) -> Iterator[Finding]:
    """Demand one exact version of every chart that comes out of a repository."""
    chart = release.props.at("chart").text()
    if chart is None:
        raise NotJudgeableError("chart", "is not shown")
    if LOCAL.fullmatch(chart) or "@sha256:" in chart:
        return
    version = release.props.at("version")
    if not EXACT.fullmatch(version.text() or ""):
        found = "absent" if version.is_absent else f"'{version.text()}'"
        kind = release.type.rpartition(":")[2]
        yield Finding(f"{kind} '{release.name}' has version {found}, wanted one exact version such as 1.2.3.")


RULE = Rule(
    id="HK-13",
    slug="charts-are-pinned",
    title="Helm charts have one exact version",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="Helm documentation, chart dependencies and version ranges",
    applies_to=EachOf(
        noun="each Helm release and chart",
        types=re.compile(r"kubernetes:helm\.sh/(v3:Release|v4:Chart)"),
        find=lambda resource: (resource,),
    ),
    why="Without a version each run takes the newest chart: a preview shows one, and the update may install another.",
    fix="Set version to one exact version.",
    check=check,
)
