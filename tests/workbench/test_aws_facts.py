import pytest

from workbench import aws_facts
from workbench.aws_facts import UPSTREAM, Upstream, generate, main, rows
from workbench.clouds.aws import facts
from workbench.errors import UserError


def test_the_checked_in_facts_are_what_the_installed_sdk_and_the_table_give() -> None:
    assert aws_facts.TARGET.read_text() == generate()


@pytest.mark.parametrize(
    ("resource", "path", "kind", "required", "change"),
    [
        ("eks.NodeGroup", "subnetIds", "set", True, "replace"),
        ("eks.NodeGroup", "scalingConfig.desiredSize", "integer", True, "update"),
        ("eks.NodeGroup", "taints[].effect", "string", True, "update"),
        ("eks.NodeGroup", "labels", "map", False, "update"),
        ("eks.Cluster", "encryptionConfig", "object", False, "replace if removed"),
        ("eks.Cluster", "vpcConfig.subnetIds", "set", True, "update"),
        ("eks.Cluster", "kubeSchedulerConfig.nodeResourcesFit", "object", False, "unread"),
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
    monkeypatch.setattr(aws_facts, "UPSTREAM", {"ec2.Vpc": wrong})
    with pytest.raises(UserError, match=r"ec2\.Vpc does not have: cidr, zones"):
        rows("ec2.Vpc")


def test_every_resource_names_the_file_that_was_read() -> None:
    assert all(known.file.startswith("internal/service/") and known.file.endswith(".go") for known in UPSTREAM.values())
    assert facts.SOURCES.keys() == facts.FACTS.keys()


def test_a_stale_file_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory) -> None:
    stale = aws_facts.TARGET.with_name("facts.py.stale")
    monkeypatch.setattr(aws_facts, "TARGET", stale)
    try:
        stale.write_text("old")
        assert main(["--check"]) == 1
        assert main(["--write"]) == 0
        assert main(["--check"]) == 0
    finally:
        stale.unlink()
