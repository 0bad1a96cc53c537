"""Controls and requirements: complete, explained, and resting on claims that exist."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from policies.registry import RULES
from support.passports import passport, sight
from workbench.acceptance.run import STEPS
from workbench.passport.claims import SUBJECTS
from workbench.passport.evidence_files import GPUS_FROM_ZERO
from workbench.passport.model import Covers, Result
from workbench.passport.standards import FILES, Row, standard
from workbench.system.paths import PROJECT_ROOT

COUNTS = {"cis-eks": 50, "cis-aks": 51, "cis-kubernetes": 131, "ai-conformance": 15}
"""As many as the sources have: kube-bench's folders, and the lists of CNCF for four minors together."""

CITED = {"cis-eks": "CIS EKS benchmark, ", "cis-aks": "CIS AKS benchmark, "}
PAGE = (PROJECT_ROOT / "docs" / "passport.md").read_text()
MUSTS = {"1.33": 8, "1.34": 9, "1.35": 9, "1.36": 8}


def rows(name: str) -> Iterator[tuple[str, Row]]:
    for row in standard(name).rows:
        yield from ((each, row) for each in row.all_ids)


@pytest.mark.parametrize("name", FILES)
def test_every_control_is_there_once(name: str) -> None:
    ids = [each for each, _ in rows(name)]
    assert len(ids) == len(set(ids)) == COUNTS[name]


@pytest.mark.parametrize("name", FILES)
def test_claims_that_a_control_rests_on_exist(name: str) -> None:
    known = {f"contract/{each}" for each in SUBJECTS} | {f"rule/{rule.id}" for rule in RULES}
    known |= {GPUS_FROM_ZERO, *(f"acceptance/{step.name.replace(' ', '-')}" for step in STEPS)}
    assert {each for row in standard(name).rows for each in row.rests} <= known


@pytest.mark.parametrize("name", CITED)
def test_controls_that_rules_cite_are_decided_in_part_at_least(name: str) -> None:
    decided = {each for each, row in rows(name) if row.covers is not Covers.NONE}
    for rule in RULES:
        _, found, cited = rule.source.partition(CITED[name])
        ids = re.findall(r"\b\d\.\d\.\d+\b", cited.partition(";")[0]) if found else []
        assert set(ids) <= decided, rule.id


def test_the_lists_of_ai_conformance_have_their_requirements() -> None:
    for minor, number in MUSTS.items():
        levels = [row.levels.get(minor) for row in standard("ai-conformance").rows]  # type: ignore[call-overload] a minor
        assert levels.count("MUST") == number, minor


def test_the_page_counts_what_is_decided() -> None:
    counted = [Counter(row.covers for _, row in rows(name)) for name in ("cis-eks", "cis-aks", "cis-kubernetes")]
    for covers in Covers:
        numbers = " | ".join(str(each[covers]) for each in counted)
        assert re.search(rf"^\| `{covers}` \|.*\| {re.escape(numbers)} \|$", PAGE, re.MULTILINE), (covers, numbers)


def test_the_page_says_what_of_each_requirement_is_decided() -> None:
    for name, row in rows("ai-conformance"):
        assert f"| `{name}` | " in PAGE
        decided = PAGE.partition(f"| `{name}` | ")[2].split(" | ")[1]
        assert decided.startswith("in part: " if row.covers is Covers.PART else "no"), name


def test_what_provisioning_does_not_decide_is_never_passed() -> None:
    made = passport("existing")
    undecided = [claim for claim in made.claims if claim.covers is Covers.NONE]
    assert undecided
    assert {claim.result for claim in undecided} == {Result.NOT_VERIFIED}
    assert all(claim.detail for claim in undecided)


def test_admission_that_only_warns_decides_nothing() -> None:
    seen = sight("existing")
    choices = seen.contract.config.policies.model_copy(update={"admission": "warn"})
    config = seen.contract.config.model_copy(update={"policies": choices})
    warned = passport("existing", sight=replace(seen, contract=replace(seen.contract, config=config)))
    (claim,) = (each for each in warned.claims if each.id == "cis-kubernetes-1.12/5.2.2")
    assert (claim.result, claim.detail) == (
        Result.NOT_VERIFIED,
        "Admission only warns: policies.admission of the stack file is warn.",
    )


def test_a_row_must_say_what_it_leaves_to_others() -> None:
    with pytest.raises(ValueError, match="say what is left to others"):
        Row(ids=("1",), about="a", covers=Covers.PART)
    with pytest.raises(ValueError, match="evidence for what provisioning does not decide"):
        Row(ids=("1",), about="a", covers=Covers.NONE, why="b", rests=("rule/NG-01",))
