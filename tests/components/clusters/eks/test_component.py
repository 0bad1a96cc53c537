"""What holds of the whole EKS stack."""

import json
import os
import subprocess
import sys
from typing import Any

from infra.program import run
from support.eks import ACCOUNT, DOCUMENT, NODE_GROUP, build, built, document
from support.recorder import record
from workbench.system.paths import PROJECT_ROOT

PROVIDER = "pulumi:providers:aws"
KUBERNETES = "pulumi:providers:kubernetes"


def test_everything_in_aws_is_made_by_the_one_provider_of_the_named_account() -> None:
    provider = built().of_type(PROVIDER)["test-aws"]
    assert json.loads(provider["allowedAccountIds"]) == [ACCOUNT]
    assert provider["region"] == "eu-west-1"
    assert json.loads(provider["defaultTags"])["tags"].items() >= DOCUMENT["cluster"]["tags"].items()
    others = [r.name for r in built().resources if r.type.startswith("aws:") and "test-aws" not in r.provider]
    assert others == []


def test_everything_says_its_environment_and_who_manages_it_unless_the_stack_file_says_it() -> None:
    def default_tags(changes: dict[str, Any]) -> Any:
        provider = build(changes).of_type(PROVIDER)["test-aws"]
        return json.loads(provider["defaultTags"])["tags"]

    assert default_tags({}).items() >= {"environment": "dev", "managed-by": "igz-clusters"}.items()
    assert default_tags({"cluster.tags.environment": "development"})["environment"] == "development"


def test_the_provider_checks_its_credentials_and_holds_none() -> None:
    provider = built().of_type(PROVIDER)["test-aws"]
    assert json.loads(provider["skipCredentialsValidation"]) is False
    assert not {"accessKey", "secretKey", "token", "profile", "skipRequestingAccountId"} & set(provider)


def test_a_changed_kubeconfig_is_no_other_cluster() -> None:
    provider = built().of_type(KUBERNETES)["test-kubernetes"]
    assert provider["clusterIdentifier"] == f"{ACCOUNT}/eu-west-1/research"


def test_credentials_in_the_environment_appear_nowhere(monkeypatch: Any) -> None:
    canaries = {
        "AWS_ACCESS_KEY_ID": "AKIACANARYCANARYCANA",
        "AWS_SECRET_ACCESS_KEY": "canary-secret-key",
        "AWS_SESSION_TOKEN": "canary-session-token",
        "PULUMI_CONFIG_PASSPHRASE": "canary-passphrase",
        "KUBECONFIG": "/canary/kubeconfig",
    }
    for name, value in canaries.items():
        monkeypatch.setenv(name, value)
    recorder = build({"environment": "prod"})
    said = json.dumps([[r.name, r.inputs] for r in recorder.resources]) + json.dumps(recorder.exports, default=str)
    assert [value for value in canaries.values() if value in said] == []


def test_outputs_say_what_the_platform_layer_needs() -> None:
    cluster = built().exports["cluster"]
    assert cluster.keys() >= {
        *("name", "kind", "environment", "clusterName", "clusterArn", "accountId", "region", "version", "endpoint"),
        *("vpcId", "nodeSubnetIds", "nodeRoleArn", "access"),
    }
    assert cluster["access"]["break-glass"] == f"arn:aws:iam::{ACCOUNT}:role/break-glass"
    zonal = {f"{pool}-{zone}" for pool in ("data", "jupyter") for zone in DOCUMENT["cluster"]["zones"]}
    assert set(built().exports["pools"]) == set(DOCUMENT["pools"]) - {"data", "jupyter"} | zonal


def test_production_of_the_same_choices_differs_in_strength_only() -> None:
    groups = {e: built(e).of_type(NODE_GROUP) for e in ("dev", "prod")}
    assert groups["dev"] == groups["prod"]


def test_a_stack_without_elastic_or_gpu_pools_runs_no_autoscaler_and_no_plug_in() -> None:
    pools = {"initial": DOCUMENT["pools"]["initial"]}
    recorder = build({"pools": pools})
    assert not [r.name for r in recorder.resources if r.type.startswith("kubernetes:apps/")]
    assert "test-own-autoscaler" not in recorder.of_type("aws:iam/role:Role")


def test_a_stack_loads_the_sdk_of_its_own_cloud_only() -> None:
    """In a process of its own: other tests have loaded everything."""
    script = (
        "import sys, infra.program; from infra.config import parse; from infra.program import _cluster\n"
        "assert not [m for m in sys.modules if m.startswith('pulumi_aws')], 'loaded before the kind is known'"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_program_needs_no_local_kubeconfig() -> None:
    from infra.config import parse  # noqa: PLC0415

    assert record(lambda: run(parse(document()))).of_type(NODE_GROUP)
