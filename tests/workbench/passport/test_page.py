"""The page of a passport: everything is on it, and no text becomes markup."""

import re
from dataclasses import replace

from support.passports import ORIGIN, passport
from workbench.passport.model import Passport, Result
from workbench.passport.page import headline, render

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e'\"&"


def hostile() -> Passport:
    made = passport("existing")
    claims = tuple(
        claim.model_copy(
            update={
                "detail": HOSTILE,
                "subject": HOSTILE,
                "evidence": tuple(each.model_copy(update={"source": HOSTILE}) for each in claim.evidence),
            }
        )
        for claim in made.claims
    )
    stack = made.stack.model_copy(update={"name": HOSTILE, "commit": HOSTILE})
    cluster = made.cluster.model_copy(update={"uid": HOSTILE, "version": HOSTILE, "resource": HOSTILE})
    return made.model_copy(update={"claims": claims, "stack": stack, "cluster": cluster})


def test_every_claim_is_on_the_page() -> None:
    made = passport("existing")
    page = render(made)
    shown = {each for cell in re.findall(r'data-label="claim">([^<]*)<', page) for each in cell.split(", ")}
    assert shown == {claim.id.rpartition("/")[2] for claim in made.claims}
    assert "<h3>CIS controls, cis-kubernetes-1.12: " in page
    assert f"<h1>{headline(made)}</h1>" in page
    assert "This page is not signed." in page


def test_no_text_becomes_markup() -> None:
    page = render(hostile())
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page


def test_nothing_is_loaded() -> None:
    page = render(passport("existing"))
    assert "default-src 'none'" in page
    assert "http" not in page.partition("</style>")[2]


def test_evidence_has_its_date_on_the_page() -> None:
    assert re.search(r"igz-clusters verify sha256:\w{12} of 2026-11-22 12:00 UTC", render(passport("existing")))


def test_changes_that_are_not_committed_are_on_the_page() -> None:
    dirty = passport("existing", origin=replace(ORIGIN, unclean=("Pulumi.test.yaml has changes.",)))
    assert not dirty.is_clean
    assert "Package or stack file was altered or had uncommitted changes." in render(dirty)


def test_failed_claims_come_first() -> None:
    made = passport("existing", lambda objects: objects.pop(("NetworkPolicy", "mlrun", "default-deny")))
    assert [claim.id for claim in made.of(Result.FAILED)]
    section = render(made).partition("<h3>Contract")[2]
    assert section.index(">network-isolation<") < section.index(">node-labels<")
