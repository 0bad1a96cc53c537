from dataclasses import replace
from datetime import date

import pytest

from tools.facts import aws
from tools.facts.aws import generate, main, rows
from tools.facts.aws_upstream import UPSTREAM, Later, Upstream
from workbench.offline.aws import facts
from workbench.system.errors import UserError


def test_the_checked_in_facts_are_what_the_installed_sdk_and_the_table_give() -> None:
    assert aws.TARGET.read_text() == generate()


@pytest.mark.parametrize(
    ("resource", "path", "kind", "required", "change"),
    [
        ("eks.NodeGroup", "subnetIds", "set", True, "replace"),
        ("eks.NodeGroup", "scalingConfig.desiredSize", "integer", True, "update"),
        ("eks.NodeGroup", "taints[].effect", "string", True, "update"),
        ("eks.NodeGroup", "labels", "map", False, "update"),
        ("eks.Cluster", "encryptionConfig", "object", False, "replace if removed"),
        ("eks.Cluster", "encryptionConfig.provider.keyArn", "string", True, "ignored"),
        ("eks.Cluster", "vpcConfig.subnetIds", "set", True, "update"),
        ("eks.Cluster", "computeConfig.nodeRoleArn", "string", False, "replace once set"),
        ("eks.Cluster", "kubeApiServerConfig.eventTtl", "string", False, "unread"),
        ("eks.Cluster", "kubeSchedulerConfig.nodeResourcesFit", "object", False, "update"),
        ("eks.Cluster", "vpcConfig.controlPlaneEgressMode", "string", False, "replace once set"),
        ("eks.NodeGroup", "nodeRepairConfig.enabled", "boolean", False, "update"),
        ("eks.NodeGroup", "warmPoolConfig.poolState", "string", False, "update"),
        ("eks.AccessPolicyAssociation", "accessScope.type", "string", True, "replace"),
        ("vpc.SecurityGroupIngressRule", "cidrIpv4", "string", False, "replace if exchanged"),
        ("iam.Role", "assumeRolePolicy", "string", True, "update"),
        ("ec2.Vpc", "region", "string", False, "replace"),
    ],
)
def test_a_fact_is_read(resource: str, path: str, kind: str, required: bool, change: str) -> None:
    assert (path, kind, required, change) in [row[:4] for row in rows(resource)]


@pytest.mark.parametrize(
    ("resource", "path", "removal", "is_read_back", "by"),
    [
        ("eks.Cluster", "version", "keeps", True, ("copy", "sdk", "copy")),
        ("eks.Cluster", "zonalShiftConfig", "never cleared", True, ("copy", "copy", "copy")),
        ("eks.Cluster", "bootstrapSelfManagedAddons", "clears", False, ("copy", "copy", "copy")),
        ("eks.Cluster", "kubeSchedulerConfig", "keeps", True, ("later", "sdk", "assumed")),
        ("eks.Cluster", "defaultAddonsToRemoves", "clears", True, ("assumed", "assumed", "assumed")),
        ("eks.NodeGroup", "clusterName", "required", True, ("copy", "sdk", "copy")),
    ],
)
def test_a_fact_is_marked(resource: str, path: str, removal: str, is_read_back: bool, by: tuple[str, ...]) -> None:
    assert (path, removal, is_read_back, by) in [(row.path, *row[4:]) for row in rows(resource)]


def test_every_type_with_tags_knows_the_requests_that_change_them() -> None:
    for type_, known in facts.facts().resources.items():
        is_sent = any(path == "tags" for _, _, path, _ in known.calls)
        assert is_sent == ("tags" in known.inputs), type_


def test_no_fact_is_without_a_mark_that_the_sources_explain() -> None:
    known = facts.facts()
    for each in known.resources.values():
        marks = [mark for row in each.inputs.values() for mark in row.by]
        assert len(marks) == 3 * len(each.rows)
        assert {*marks, each.retries_by, each.replacement[1], *(call[3] for call in each.calls)} <= known.sources.keys()


def test_what_is_younger_than_the_copy_is_never_marked_as_read_there() -> None:
    for known in facts.facts().resources.values():
        for row in known.inputs.values():
            if row.change == "unread" or row.path in {path for path, *_ in known.later}:
                assert "copy" not in row.by, row.path


def test_the_table_may_not_differ_from_the_sdk_on_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(UPSTREAM["eks.AccessEntry"], keeps=("kubernetesGroups", "type"))
    monkeypatch.setattr(aws, "UPSTREAM", {"eks.AccessEntry": wrong})
    with pytest.raises(UserError, match=r"differ on what eks\.AccessEntry keeps: type, userName"):
        rows("eks.AccessEntry")


def test_the_table_may_not_name_an_input_that_the_sdk_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Upstream(file="a/file.go", copy_of=2026, api="ec2", replaces=("cidr", "cidrBlock"), sets=("zones",))
    monkeypatch.setattr(aws, "UPSTREAM", {"ec2.Vpc": wrong})
    with pytest.raises(UserError, match=r"ec2\.Vpc does not have: cidr, zones"):
        rows("ec2.Vpc")


def test_every_resource_names_the_file_that_was_read() -> None:
    assert all(known.file.startswith("internal/service/") and known.file.endswith(".go") for known in UPSTREAM.values())
    assert len(facts.facts().resources) == len(UPSTREAM)


def test_what_a_younger_source_says_is_a_change_that_the_provider_knows_with_its_link_and_date() -> None:
    said = {(kind, path): source for kind, each in facts.facts().resources.items() for path, *source in each.later}
    changes = {(kind, row[0]): row[3] for kind, each in facts.facts().resources.items() for row in each.rows}
    assert {changes[each] for each in said} == {"update", "replace once set"}
    assert all(link.startswith("https://github.com/") and date.fromisoformat(on) for link, on in said.values())


def test_a_younger_source_may_not_name_an_input_that_the_sdk_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    later = Later(("cidr",), "update", "https://github.com/a/b", "2026-01-01")
    wrong = Upstream(file="a/file.go", copy_of=2026, api="ec2", later=(later,))
    monkeypatch.setattr(aws, "UPSTREAM", {"ec2.Vpc": wrong})
    with pytest.raises(UserError, match=r"ec2\.Vpc does not have: cidr"):
        rows("ec2.Vpc")


def test_a_stale_file_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory) -> None:
    stale = aws.TARGET.with_name("facts.json.stale")
    monkeypatch.setattr(aws, "TARGET", stale)
    try:
        stale.write_text("old")
        assert main(["--check"]) == 1
        assert main(["--write"]) == 0
        assert main(["--check"]) == 0
    finally:
        stale.unlink()
