"""What a passport claims: only what there is evidence for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from policies.registry import RULES
from support.passports import CHECKED, NOW, by_id, passport, sight
from support.verification import Objects
from workbench.engine.check import Checked
from workbench.passport.claims import SUBJECTS
from workbench.passport.model import Claim, Covers, Result
from workbench.report.causes import Cause
from workbench.report.model import Finding, FindingStatus, Judge
from workbench.verification.verify import CHECKS, OBJECTS

PASSED, FAILED, UNKNOWN = Result.PASSED, Result.FAILED, Result.NOT_VERIFIED


def untainted(objects: Objects) -> None:
    objects["Node", "", "gpu-0"]["spec"]["taints"] = []


def checked(*findings: tuple[str, FindingStatus], **changes: Any) -> Checked:
    causes = tuple(
        Cause(Finding(rule, standing, Judge.OWN, "urn", "is wrong", waiver="until 2027-01-01 by us (OPS-1: soon)"), ())
        for rule, standing in findings
    )
    return replace(CHECKED, causes=causes, **changes)


@pytest.fixture(scope="module")
def clean() -> Mapping[str, Claim]:
    return by_id(passport("existing"))


def test_every_check_every_rule_and_every_restore_has_a_claim(clean: Mapping[str, Claim]) -> None:
    assert set(SUBJECTS) == {OBJECTS, *CHECKS}
    wanted = {f"contract/{each}" for each in SUBJECTS} | {f"rule/{rule.id}" for rule in RULES}
    assert wanted | {"rehearsal", "acceptance", "restore"} <= set(clean)


def test_what_was_seen_passes_with_its_evidence(clean: Mapping[str, Claim]) -> None:
    labels = clean["contract/node-labels"]
    assert (labels.result, labels.covers) == (PASSED, Covers.WHOLE)
    assert [each.source for each in labels.evidence] == ["igz-clusters verify"]
    assert labels.detail.endswith("pools")
    assert clean["contract/objects"].result is PASSED
    assert clean["rule/NG-07"].result is PASSED
    assert [(each.source, each.at) for each in clean["rule/NG-07"].evidence] == [("igz-clusters check", NOW)]


def test_what_is_not_there_is_not_verified(clean: Mapping[str, Claim]) -> None:
    assert (clean["contract/autoscaler"].result, clean["contract/autoscaler"].detail) == (
        UNKNOWN,
        "the stack has no elastic groups",
    )
    for name in ("rehearsal", "acceptance", "restore"):
        assert (clean[name].result, clean[name].evidence) == (UNKNOWN, ())


def test_a_deviation_fails_its_claim_and_those_that_rest_on_it() -> None:
    claims = by_id(passport("existing", untainted))
    assert claims["contract/node-taints"].result is FAILED
    assert claims["contract/node-taints"].detail == ("Node gpu-0, spec.taints lacks nvidia.com/gpu=present:NoSchedule")
    broken = by_id(passport("existing", lambda objects: objects.pop(("NetworkPolicy", "mlrun", "default-deny"))))
    assert broken["contract/network-isolation"].result is FAILED
    assert broken["cis-kubernetes-1.12/5.3.2"].result is FAILED
    assert broken["cis-kubernetes-1.12/5.3.2"].detail == "Failed: contract/network-isolation."


def test_without_its_mark_no_namespace_is_said_to_be_judged_by_admission() -> None:
    def unmarked(objects: Objects) -> None:
        del objects["Namespace", "", "mlrun"]["metadata"]["labels"]["igz-clusters.io/user-workloads"]

    claims = by_id(passport("existing", unmarked))
    assert claims["contract/namespace-marks"].result is FAILED
    for control in ("5.2.1", "5.2.2", "5.2.6"):
        assert claims[f"cis-kubernetes-1.12/{control}"].detail == "Failed: contract/namespace-marks."


@pytest.mark.parametrize(
    ("standing", "result", "detail"),
    [
        (FindingStatus.VIOLATED, FAILED, "violated until 2027-01-01 by us (OPS-1: soon): is wrong"),
        (FindingStatus.WAIVED, FAILED, "waived until 2027-01-01 by us (OPS-1: soon): is wrong"),
        (FindingStatus.ADVISED, FAILED, "advised until 2027-01-01 by us (OPS-1: soon): is wrong"),
        (FindingStatus.UNJUDGED, UNKNOWN, "unjudged until 2027-01-01 by us (OPS-1: soon): is wrong"),
    ],
)
def test_a_finding_decides_its_rule(standing: FindingStatus, result: Result, detail: str) -> None:
    claims = by_id(passport("existing", checked=checked(("HK-04", standing))))
    assert (claims["rule/HK-04"].result, claims["rule/HK-04"].detail) == (result, detail)
    assert claims["cis-kubernetes-1.12/5.1.1"].result is result
    assert claims["rule/HK-05"].result is PASSED


def test_a_rule_that_judged_nothing_does_not_pass() -> None:
    judged = CHECKED.judged - {"HK-05"}
    claims = by_id(passport("existing", checked=checked(judged=judged)))
    assert (claims["rule/HK-05"].result, claims["rule/HK-05"].detail) == (
        UNKNOWN,
        "The stack declares nothing that the rule concerns.",
    )
    assert claims["cis-kubernetes-1.12/5.1.5"].detail == "Not verified: rule/HK-05."


def test_rules_of_another_cloud_do_not_pass(clean: Mapping[str, Claim]) -> None:
    for rule in RULES:
        if rule.id.startswith(("HE", "HA")):
            assert clean[f"rule/{rule.id}"].result is UNKNOWN
            assert "is about clusters of kind" in clean[f"rule/{rule.id}"].detail


def test_controls_of_eks_rest_on_its_rules() -> None:
    clean = by_id(passport("eks"))
    assert (clean["cis-eks-1.8/5.3.1"].result, clean["cis-eks-1.8/5.3.1"].covers) == (PASSED, Covers.PART)
    assert clean["cis-eks-1.8/5.3.1"].detail.endswith("the setting is not read in the cloud.")
    assert clean["cis-eks-1.8/5.3.1"].evidence == clean["rule/HE-03"].evidence
    assert clean["cis-eks-1.8/3.2.1"].result is UNKNOWN
    assert clean["ai-conformance-1.36/accelerator_metrics"].detail == (
        "The stack declares no DaemonSet/nvidia-dcgm-exporter."
    )
    assert clean["ai-conformance-1.36/cluster_autoscaling"].detail == (
        "Not verified: acceptance/pods, acceptance/gpus-from-zero."
    )
    open_ = by_id(passport("eks", checked=checked(("HE-01", FindingStatus.VIOLATED))))
    assert {name for name, claim in open_.items() if claim.result is FAILED} == {
        "rule/HE-01",
        "cis-eks-1.8/5.4.1",
        "cis-eks-1.8/5.4.2",
    }


def test_evidence_changes_with_what_was_found(clean: Mapping[str, Claim]) -> None:
    other = by_id(passport("existing", untainted))
    assert other["contract/node-taints"].evidence[0].digest != clean["contract/node-taints"].evidence[0].digest
    assert other["contract/node-labels"].evidence == clean["contract/node-labels"].evidence


def without_gpu_nodes(objects: Objects) -> None:
    for key in [key for key in objects if key[0] == "Node" and key[2].startswith("gpu")]:
        del objects[key]


def starting(objects: Objects) -> None:
    for key, each in objects.items():
        if key[0] == "Node":
            each["metadata"]["creationTimestamp"] = "2026-11-22T11:59:00Z"


@pytest.mark.parametrize("plant", [without_gpu_nodes, starting])
def test_without_gpu_nodes_there_is_no_evidence_of_gpus(plant: Any, clean: Mapping[str, Claim]) -> None:
    about_gpus = ("contract/gpu-plugin", "ai-conformance-1.36/driver_runtime_management")
    assert [clean[each].result for each in about_gpus] == [PASSED, PASSED]
    claims = by_id(passport("existing", plant))
    assert [claims[each].result for each in about_gpus] == [UNKNOWN, UNKNOWN]


def test_a_rule_that_could_not_be_judged_outside_of_ci_has_not_failed() -> None:
    doubt = Finding("NG-07", FindingStatus.ADVISED, Judge.OWN, "urn", "could not be judged: labels are unknown")
    claim = by_id(passport("existing", checked=replace(CHECKED, causes=(Cause(doubt, ()),))))["rule/NG-07"]
    assert (claim.result, claim.detail) == (UNKNOWN, "advised: could not be judged: labels are unknown")


def test_simulated_nodes_are_no_evidence_for_ai_conformance() -> None:
    claims = by_id(passport("local"))
    assert [name for name in claims if name.startswith("ai-conformance")] == []
    assert "cis-kubernetes-1.12/5.3.2" in claims


def test_ai_conformance_is_that_of_the_minor() -> None:
    claims = by_id(passport("existing", sight=sight("existing", version="v1.34.2-gke.1")))
    assert claims["ai-conformance-1.34/dra_support"].result is PASSED
    assert "ai-conformance-1.34/gpu_sharing" not in claims
    newer = by_id(passport("existing", sight=sight("existing", version="v1.99.0")))
    assert newer["ai-conformance-1.99"].result is UNKNOWN
    assert [name for name in newer if name.startswith("ai-conformance")] == ["ai-conformance-1.99"]
