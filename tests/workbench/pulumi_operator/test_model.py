"""``operator.yaml``: every mistake in it, at its place."""

from typing import Any

import pytest
from pydantic import ValidationError

from infra.config.problems import problems_of
from workbench.pulumi_operator.model import OperatorFile, is_secret

CHOICES: dict[str, Any] = {
    "repository": "https://github.com/acme/clusters",
    "image": "registry.example.com/igz-clusters:0.2.0",
}
KEY = {"secret": "pulumi", "key": "passphrase"}
DIGEST = "registry.example.com/igz-clusters@sha256:" + "a" * 64
LABEL = "must be 1 to 63 lower-case letters, digits or '-', no '-' at the ends"
NOT_PLAIN = "is secret; name a key of a Secret in secretEnvironment"
RESERVED = "is set by igz-clusters; remove it"
VARIABLE = "must be letters, digits or '_', no digit first"
REPOSITORY = "must be the https address that `git clone` takes, without credentials: https://HOST/PATH"
IMAGE = "must name a tag other than 'latest', or a digest: registry.example.com/igz-clusters:0.2.0"
BACKEND = "must be the address of a backend that pods can reach: https, s3, azblob or gs, no credentials"
DIRECTORY = "must be a folder in the repository, relative to its root"


def problems(changes: dict[str, Any]) -> dict[str, str]:
    document = {key: value for key, value in {**CHOICES, **changes}.items() if value is not None}
    with pytest.raises(ValidationError) as refused:
        OperatorFile.model_validate(document)
    found = problems_of(refused.value, OperatorFile)
    return {".".join(map(str, each.path or ())): each.message for each in found}


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"repository": "http://github.com/acme/clusters"}, "repository", REPOSITORY),
        ({"repository": "https://token@github.com/acme/clusters"}, "repository", REPOSITORY),
        ({"repository": "../clusters"}, "repository", REPOSITORY),
        ({"repository": "git@github.com:acme/clusters"}, "repository", REPOSITORY),
        ({"repository": "https://github.com"}, "repository", REPOSITORY),
        ({"directory": "/clusters"}, "directory", DIRECTORY),
        ({"directory": "a/../../b"}, "directory", DIRECTORY),
        ({"image": "registry.example.com/igz-clusters"}, "image", IMAGE),
        ({"image": "registry.example.com/igz-clusters:latest"}, "image", IMAGE),
        ({"image": "registry.example.com:5000/igz-clusters"}, "image", IMAGE),
        ({"backend": "file:///data"}, "backend", BACKEND),
        ({"namespace": "Clusters"}, "namespace", LABEL),
        ({"serviceAccount": "-"}, "serviceAccount", LABEL),
        ({"gitToken": {"secret": "Git", "key": "a"}}, "gitToken.secret", "must be 1 to 253 lower-case letters"),
        ({"gitToken": {"secret": "git", "key": "a b"}}, "gitToken.key", "must be letters, digits"),
        ({"imagePullSecrets": ["a_b"]}, "imagePullSecrets.0", "must be 1 to 253 lower-case letters"),
        ({"podLabels": {"a b": "x"}}, "podLabels.a b", "a label's key must be"),
        ({"podLabels": {"a": "x y"}}, "podLabels.a", "must be at most 63 letters"),
        ({"podLabels": {"a": True}}, "podLabels.a", "must be text; put it in quotes"),
        ({"podLabels": {"auto.pulumi.com/component": "x"}}, "podLabels.auto.pulumi.com/component", "is a label of the"),
        ({"serviceAccountAnnotations": {"/a": "x"}}, "serviceAccountAnnotations./a", "the part before '/' must be"),
        ({"environment": {"AGENT_MEMLIMIT": "1"}}, "environment.AGENT_MEMLIMIT", RESERVED),
        ({"environment": {"USER": "me"}}, "environment.USER", RESERVED),
        ({"environment": {"1A": "x"}}, "environment.1A", VARIABLE),
        ({"environment": {"PATH": "/bin"}}, "environment.PATH", RESERVED),
        ({"environment": {"PULUMI_BACKEND_URL": "s3://b"}}, "environment.PULUMI_BACKEND_URL", RESERVED),
        ({"environment": {"PULUMI_ACCESS_TOKEN": "x"}}, "environment.PULUMI_ACCESS_TOKEN", NOT_PLAIN),
        ({"environment": {"AWS_SECRET_ACCESS_KEY": "x"}}, "environment.AWS_SECRET_ACCESS_KEY", NOT_PLAIN),
        ({"environment": {"RETRIES": 3}}, "environment.RETRIES", "must be text; put it in quotes"),
        ({"secretEnvironment": {"HOME": KEY}}, "secretEnvironment.HOME", RESERVED),
        ({"secretEnvironment": {"A": "passphrase"}}, "secretEnvironment.A", "must be a mapping"),
        (
            {"environment": {"REGION": "x"}, "secretEnvironment": {"REGION": KEY}},
            "secretEnvironment.REGION",
            "is in environment too; remove one",
        ),
        ({"resources": {"cpu": "none", "memory": "4Gi"}}, "resources.cpu", "is not a quantity"),
        ({"resources": {"cpu": "1"}}, "resources.memory", "is required"),
        ({"preview": "yes"}, "preview", "must be true or false"),
        ({"branch": "main"}, "branch", "unknown key"),
        ({"repository": None}, "repository", "is required"),
    ],
    ids=str,
)
def test_a_mistake_is_named_at_its_place(changes: dict[str, Any], path: str, message: str) -> None:
    found = problems(changes)
    assert list(found) == [path]
    assert found[path].startswith(message)


def test_all_mistakes_are_named_together() -> None:
    given = {"repository": "x", "environment": {"PATH": "x", "A_TOKEN": "x"}, "preview": 1, "gitToken": {}}
    assert list(problems(given)) == [
        "repository",
        "gitToken.secret",
        "gitToken.key",
        "environment.PATH",
        "environment.A_TOKEN",
        "preview",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"repository": "https://git.example.com:8443/acme/clusters.git", "gitToken": {"secret": "a.b", "key": "k"}},
        {"image": DIGEST},
        {"image": "localhost:5000/igz-clusters:0.2.0"},
        {"image": DIGEST.replace("@", ":v1.2-RC@")},
        {"image": DIGEST.replace("@", ":latest@")},
        {"backend": "https://pulumi.example.com"},
        {"backend": "azblob://state?storage_account=acme"},
        {"environment": {"PULUMI_CONFIG_PASSPHRASE_FILE": "/run/secrets/passphrase"}},
        {"secretEnvironment": {"PULUMI_CONFIG_PASSPHRASE": KEY}},
    ],
    ids=str,
)
def test_what_is_right_is_taken(changes: dict[str, Any]) -> None:
    OperatorFile.model_validate({**CHOICES, **changes})


@pytest.mark.parametrize("name", ["PULUMI_ACCESS_TOKEN", "ARM_CLIENT_SECRET", "DB_PASSWORD", "V3IO_ACCESS_KEY"])
def test_a_name_says_that_a_variable_is_secret(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["AWS_REGION", "ARM_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "ARM_OIDC_TOKEN_FILE_PATH"]
)
def test_other_names_do_not(name: str) -> None:
    assert not is_secret(name)
