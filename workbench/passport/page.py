"""Renders a passport as one self-contained HTML page, in the style of the reports of rehearsals."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

from components.contract.environments import ClusterKind
from workbench.passport.claims import CONTRACT, RULE
from workbench.passport.evidence_files import ACCEPTANCE, REHEARSAL, RESTORE
from workbench.passport.model import Claim, Covers, Evidence, Passport, Result
from workbench.passport.standards import AI
from workbench.rehearsal.report.markup import Html, clean, element, joined, table
from workbench.rehearsal.report.page_assets import digest, style
from workbench.report.words import count

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src '{digest}'">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""

_UNSIGNED: Final = (
    "This page is not signed. The passport is: `igz-clusters passport show FILE --public-key KEY` checks its signature "
    "with a public key that you trust, and writes this page again."
)

_SECTIONS: Final[Mapping[str, tuple[str, str]]] = {
    CONTRACT: ("Contract", "What the stack demands, compared with the cluster by `igz-clusters verify`."),
    RULE: ("Rules", "What the stack declares, judged by every rule of this package; docs/policies.md explains each."),
    "cis": (
        "CIS controls",
        "By id, of the benchmark for this kind of cluster. Many claims are about the part that provisioning decides.",
    ),
    AI: (
        "Kubernetes AI Conformance",
        "CNCF's requirements for this minor, by id. A passed claim is evidence for a part, not a certification.",
    ),
    REHEARSAL: ("Rehearsal", "Work on simulated nodes of this stack file."),
    ACCEPTANCE: ("Acceptance", "The life cycle in a copy of this stack."),
    RESTORE: ("Restore", "What the cloud records of restores, read by `igz-clusters backup list`."),
}
"""Title and introduction of each section, by the beginning of the ids of its claims."""

_SIGNS: Final = {
    Result.PASSED: ("span.good.nowrap", "✓ passed"),
    Result.FAILED: ("span.bad.nowrap", "✕ failed"),
    Result.NOT_VERIFIED: ("span.dim", "not verified"),
}
_ORDER: Final = (Result.FAILED, Result.PASSED, Result.NOT_VERIFIED)


def render(passport: Passport) -> str:
    """Return the page of a passport."""
    look = style()
    body = joined((_header(passport), *_sections(passport.claims), element("footer", _UNSIGNED)))
    return _PAGE.format(
        digest=digest(look),
        title=escape(clean(f"Passport of {passport.stack.name}: {headline(passport)}")),
        style=look,
        body=body,
    )


def headline(passport: Passport) -> str:
    """Return the counts of the results in words."""
    passed, failed, unknown = (len(passport.of(each)) for each in (Result.PASSED, Result.FAILED, Result.NOT_VERIFIED))
    return f"{count(passed, 'claim')} passed, {failed or 'none'} failed, {unknown or 'none'} not verified"


def _header(passport: Passport) -> Html:
    stack, cluster, package = passport.stack, passport.cluster, passport.package
    rows = [
        ("Stack", f"{stack.name} ({stack.kind}, {stack.environment})"),
        ("Stack file", f"commit {stack.commit or 'none'}, settings sha256:{stack.digest}"),
        ("Package", f"{package.name} {package.version}, commit {package.commit or 'none: installed from a wheel'}"),
        ("Cluster", f"{cluster.resource or 'no id in a cloud'}, UID {cluster.uid}, Kubernetes {cluster.version}"),
        ("Made", f"{passport.made:%Y-%m-%d %H:%M} UTC"),
        ("Expires", f"{passport.expires:%Y-%m-%d %H:%M} UTC"),
        ("Compared later", count(len(passport.objects), "object")),
    ]
    if stack.kind == ClusterKind.LOCAL:
        rows.append(("Nodes", "simulated: containers do not run, and network policies are not enforced"))
    if not passport.is_clean:
        rows.append(("Not clean", "Package or stack file was altered or had uncommitted changes."))
    colour = "bad" if passport.of(Result.FAILED) else "good"
    return element(
        f"header.page.{colour}",
        element("p.eyebrow", f"Passport of {stack.name}"),
        element("h1", headline(passport)),
        element("ul.plain", *(element("li", element("strong", name), f": {value}") for name, value in rows)),
    )


def _sections(claims: Sequence[Claim]) -> Iterator[Html]:
    for begin, (title, about) in _SECTIONS.items():
        of = [claim for claim in claims if claim.id == begin or claim.id.startswith((f"{begin}/", f"{begin}-"))]
        if not of:
            continue
        standard = of[0].id.partition("/")[0]
        named = title if standard == begin else f"{title}, {standard}"
        passed = sum(claim.result is Result.PASSED for claim in of)
        covers = any(claim.covers is not Covers.WHOLE for claim in of)
        headings = ("claim", "about", "result", *(("covers",) if covers else ()), "found", "evidence")
        rows = (_row(alike, covers=covers) for alike in _alike(of))
        yield element(
            "section",
            element("h3", f"{named}: {passed} of {len(of)} passed"),
            element("p.lead", about),
            table(headings, rows, name=title, is_prose=True),
        )


def _alike(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Return groups of claims that differ only in their ids, failed ones first."""
    groups = defaultdict[tuple[object, ...], list[Claim]](list)
    for claim in sorted(claims, key=lambda each: _ORDER.index(each.result)):
        groups[claim.subject, claim.result, claim.covers, claim.detail, claim.evidence].append(claim)
    return list(groups.values())


def _row(alike: Sequence[Claim], *, covers: bool) -> tuple[str, ...]:
    claim = alike[0]
    evidence = dict.fromkeys(map(_evidence, claim.evidence))
    return (
        ", ".join(each.id.rpartition("/")[2] for each in alike),
        claim.subject,
        element(*_SIGNS[claim.result]),
        *((claim.covers.value,) if covers else ()),
        claim.detail,
        ", ".join(evidence) or "-",
    )


def _evidence(given: Evidence) -> str:
    at = f"of {given.at:%Y-%m-%d %H:%M %Z}" if given.at else "without a date"
    return f"{given.source} sha256:{given.digest[:12]} {at}"
