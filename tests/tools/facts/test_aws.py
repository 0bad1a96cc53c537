from dataclasses import replace
from typing import Any

import pytest

from tools.facts import aws
from tools.facts.aws import UPSTREAM, Upstream, generate, main, rows, token
from workbench.offline.aws import facts
from workbench.system.errors import UserError

CLUSTER = "internal/service/eks/cluster.go"


def kept(*paths: str) -> Any:
    return [{"keeps": True, "of": paths, "source": "sdk"}]


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
        ("eks.Cluster", "kubeApiServerConfig.eventTtl", "string", False, "update"),
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
    assert (path, kind, required, change) in [tuple(row) for row in rows(resource)]


@pytest.mark.parametrize(
    ("resource", "path", "question", "answer", "source"),
    [
        ("eks.Cluster", "version", "absent", "keeps", "sdk"),
        ("eks.Cluster", "version", "read", "read back", CLUSTER),
        ("eks.Cluster", "zonalShiftConfig", "absent", "stays", CLUSTER),
        ("eks.Cluster", "encryptionConfig.provider.keyArn", "replaced", "ignored", CLUSTER),
        ("eks.Cluster", "bootstrapSelfManagedAddons", "read", "not read back", CLUSTER),
        ("eks.Cluster", "kubeSchedulerConfig", "replaced", "update", "pull-3741"),
        ("eks.Cluster", "kubeSchedulerConfig", "read", "read back", ""),
        ("eks.Cluster", "defaultAddonsToRemoves", "replaced", "update", ""),
        ("eks.Cluster", "defaultAddonsToRemoves", "absent", "resets", ""),
        ("eks.Cluster", "region", "replaced", "replace", "region"),
        ("ec2.VpcEndpoint", "region", "absent", "resets", "region"),
        ("ec2.VpcEndpoint", "region", "read", "read back", "region"),
        # What is kept says nothing of what is inside it.
        ("ec2.SecurityGroup", "ingress[].cidrBlocks", "absent", "resets", "internal/service/ec2/vpc_security_group.go"),
    ],
)
def test_a_fact_is_marked(resource: str, path: str, question: str, answer: str, source: str) -> None:
    found = facts.resource(token(resource)).said(path, question)
    assert found
    assert (found.answer, found.source) == (answer, source)


def test_every_type_with_tags_knows_the_requests_that_change_them() -> None:
    for type_, known in facts.facts().resources.items():
        is_sent = any("(tags)" in request for call in known.calls for request in call.answer)
        assert is_sent == ("tags" in known.inputs), type_


def test_the_table_may_not_differ_from_the_sdk_on_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(UPSTREAM["eks.AccessEntry"], says=kept("kubernetesGroups", "type"))
    monkeypatch.setattr(aws, "UPSTREAM", {"eks.AccessEntry": wrong})
    with pytest.raises(UserError, match=r"differ on what eks\.AccessEntry keeps: type, userName"):
        rows("eks.AccessEntry")


def test_the_table_may_not_name_an_input_that_the_sdk_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Upstream(file="a/file.go", copy_of=2026, api="ec2", says=kept("cidr", "cidrBlock"), sets=("zones",))
    monkeypatch.setattr(aws, "UPSTREAM", {"ec2.Vpc": wrong})
    with pytest.raises(UserError, match=r"ec2\.Vpc does not have: cidr, zones"):
        rows("ec2.Vpc")


def test_every_resource_names_the_file_that_was_read() -> None:
    assert all(known.file.startswith("internal/service/") and known.file.endswith(".go") for known in UPSTREAM.values())
    assert len(facts.facts().resources) == len(UPSTREAM)


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
