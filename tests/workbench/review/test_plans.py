"""What a change's program may see; all of it without an engine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from workbench.review import plans
from workbench.review.own import OwnStack
from workbench.review.package import BASE
from workbench.review.plans import Planned, Tools, compared_plan
from workbench.review.runs import Runs
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain

NEEDED = {
    "AWS_PROFILE": "reader",
    "AWS_SESSION_TOKEN": "of the reader",
    "GOOGLE_APPLICATION_CREDENTIALS": "/a/file",
    "GOOGLE_CREDENTIALS": "of a reader",
    "HTTPS_PROXY": "http://proxy.invalid",
    "IGZ_CLUSTERS_POLICY_UNKNOWN": "fail",
    "KUBECONFIG": "/there",
    "PULUMI_ACCESS_TOKEN": "of a reader",
    "PULUMI_BACKEND_URL": "s3://state",
    "REQUESTS_CA_BUNDLE": "/ca.pem",
    "SSL_CERT_FILE": "/ca.pem",
    "VAULT_ADDR": "https://vault.invalid",
    "VAULT_SERVER_TOKEN": "of a reader",
}
OTHERS = {
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x",
    "ACTIONS_ID_TOKEN_REQUEST_URL": "x",
    "ACTIONS_RUNTIME_TOKEN": "x",
    "DATABASE_PASSWORD": "x",
    "GITHUB_ENV": "/a/file/of/the/job",
    "GITHUB_TOKEN": "x",
    "NPM_TOKEN": "x",
    "SSH_AUTH_SOCK": "/a/socket",
}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    found: dict[str, str] = {}

    def planned(_name: str, _head: OwnStack, environment: Mapping[str, str], *_: Any) -> Planned:
        found.update(environment)
        return Planned()

    monkeypatch.setattr(plans, "_planned", planned)
    for name, value in {**NEEDED, **OTHERS}.items():
        monkeypatch.setenv(name, value)
    return found


def plan() -> None:
    toolchain = Toolchain({"pulumi": Path("/tools/pulumi")})
    compared_plan("dev", None, OwnStack(), Tools(toolchain, Runs(), BASE, PROJECT_ROOT))


def test_a_compared_program_sees_no_variable_but_those_it_needs(seen: dict[str, str]) -> None:
    plan()
    assert seen.items() >= NEEDED.items()
    assert not seen.keys() & OTHERS.keys()


def test_only_a_program_for_azure_may_request_tokens_of_its_environment(
    seen: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARM_USE_OIDC", "true")
    plan()
    assert seen.keys() & OTHERS.keys() == {"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL"}


def test_a_compared_plan_gets_the_base_of_its_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text("config: { 'igz-clusters:stack': { base: acme } }\n")
    (tmp_path / "Base.acme.yaml").write_text("schemaVersion: 1\n")
    beside: dict[str, str] = {}

    def planned(_name: str, _head: OwnStack, environment: Mapping[str, str], *_: Any) -> Planned:
        folder = Path(environment["PULUMI_OPTION_CONFIG_FILE"]).parent
        beside.update({file.name: file.read_text() for file in folder.glob("*.yaml")})
        return Planned()

    monkeypatch.setattr(plans, "_planned", planned)
    toolchain = Toolchain({"pulumi": Path("/tools/pulumi")})
    compared_plan("dev", None, OwnStack(), Tools(toolchain, Runs(), BASE, tmp_path))
    assert beside == {file.name: file.read_text() for file in tmp_path.iterdir()}
