from datetime import date

import pytest

from tools.facts import aws
from tools.facts.aws import UPSTREAM, Later, Upstream, generate, main, rows
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
    assert (path, kind, required, change) in rows(resource)


def test_the_table_may_not_name_an_input_that_the_sdk_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Upstream("a/file.go", 2026, ("cidr", "cidrBlock"), ("zones",))
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
    wrong = Upstream("a/file.go", 2026, later=(Later(("cidr",), "update", "https://github.com/a/b", "2026-01-01"),))
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
