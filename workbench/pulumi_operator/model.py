"""Model of ``operator.yaml``: how the Pulumi Kubernetes Operator updates the stacks of a folder."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.choices import ContractModel, Findings
from components.contract.labels import is_dns_label, label_key_grammar_problem, label_value_problem
from components.contract.pod_resources import ResourceAmounts
from policies.views.static_keys import is_variable

IMAGE_FOLDER: Final = "/opt/igz-clusters/operator"
"""Folder of the ``pulumi`` that runs the checks of ``up``, in images of examples/container/Containerfile."""

WRITABLE: Final = "/share"
"""The volume that the operator mounts into each workspace, for all that its user 1000 keeps.

``WorkspaceShareMountPath`` in pulumi-kubernetes-operator v2.9.0, operator/internal/controller/auto.
"""

SET: Final = {
    "PATH": f"{IMAGE_FOLDER}:/opt/igz-clusters/bin:/usr/local/bin:/usr/bin:/bin",
    # The image has no user 1000, and the engine, built without cgo, then asks this variable for the user's name.
    "USER": "igz-clusters",
    "HOME": WRITABLE,
    "IGZ_CLUSTERS_DATA": f"{WRITABLE}/igz-clusters",
    "IGZ_CLUSTERS_CACHE": "/opt/tools",
}
"""Variables of each workspace: without ``PATH`` the image has no ``pulumi``, so nothing runs without the checks."""

_OTHERS: Final = (
    *("AGENT_MEMLIMIT", "POD_NAMESPACE", "POD_SA_NAME", "PULUMI_BACKEND_URL", "PULUMI_ENV"),
    *("IGZ_CLUSTERS_STACKS", "PULUMI_STACK"),
)
"""Variables that the operator sets (``newStatefulSet`` in its workspace controller), or a run."""

_OPERATORS_LABELS: Final = ("auto.pulumi.com/", "pulumi.com/")
"""Prefixes of the labels by which the operator finds its pods."""

_SECRET_PARTS: Final = ("PASSPHRASE", "PASSWORD", "SECRET", "TOKEN")
_FILES: Final = ("_FILE", "_FILE_PATH")

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REPOSITORY: Final = re.compile(r"https://[^\s/@?#]+/[^\s@?#]+")
_IMAGE: Final = re.compile(
    r"[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)*(:(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@sha256:[0-9a-f]{64})?"
)
_BACKEND: Final = re.compile(r"(https|s3|azblob|gs)://[^\s@]+")
_SECRET_NAME: Final = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SECRET_KEY: Final = re.compile(r"(?!\.$|\.\.)[A-Za-z0-9._-]+")


def _label(name: str) -> str:
    if not is_dns_label(name):
        raise ValueError("must be 1 to 63 lower-case letters, digits or '-', no '-' at the ends")
    return name


def _secret_name(name: str) -> str:
    if not _SECRET_NAME.fullmatch(name):
        raise ValueError("must be 1 to 253 lower-case letters, digits, '-' or '.', alphanumeric at ends and beside '.'")
    return name


def _secret_key(key: str) -> str:
    if not _SECRET_KEY.fullmatch(key):
        raise ValueError("must be letters, digits, '-', '_' or '.', not '.' alone and no '..' in front")
    return key


def _repository(url: str) -> str:
    if not _REPOSITORY.fullmatch(url):
        raise ValueError("must be the https address that `git clone` takes, without credentials: https://HOST/PATH")
    return url


def _directory(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError("must be a folder in the repository, relative to its root")
    return path


def _image(name: str) -> str:
    match = _IMAGE.fullmatch(name)
    if not match or (match["tag"] in (None, "latest") and not match["digest"]):
        raise ValueError("must name a tag other than 'latest', or a digest: registry.example.com/igz-clusters:0.2.0")
    return name


def _backend(url: str) -> str:
    if not _BACKEND.fullmatch(url):
        raise ValueError(
            "must be the address of a backend that pods can reach: https, s3, azblob or gs, no credentials"
        )
    return url


def is_secret(variable: str) -> bool:
    """Return whether a variable of this name holds a secret; the name of a file that holds one is none."""
    has_part = any(part in variable.upper() for part in _SECRET_PARTS) and not variable.endswith(_FILES)
    return has_part or is_variable(variable)


def _annotation(key: str) -> str:
    if problem := label_key_grammar_problem(key):
        raise ValueError(problem)
    return key


def _label_key(key: str) -> str:
    if key.startswith(_OPERATORS_LABELS):
        raise ValueError("is a label of the operator; remove it")
    return _annotation(key)


def _label_value(value: str) -> str:
    if problem := label_value_problem(value):
        raise ValueError(problem)
    return value


def _variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise ValueError("must be letters, digits or '_', no digit first")
    if name in (*SET, *_OTHERS):
        raise ValueError("is set by igz-clusters; remove it")
    return name


def _plain_variable(name: str) -> str:
    if is_secret(name):
        raise ValueError("is secret; name a key of a Secret in secretEnvironment")
    return _variable(name)


Text = Annotated[str, Field(strict=True)]
Name = Annotated[str, AfterValidator(_label)]
Variable = Annotated[str, AfterValidator(_variable)]
PlainVariable = Annotated[str, AfterValidator(_plain_variable)]


class SecretKey(ContractModel):
    """A key of a Secret in the operator's namespace."""

    secret: Annotated[str, AfterValidator(_secret_name)] = Field(description="Name of the Secret.", examples=["pulumi"])
    key: Annotated[str, AfterValidator(_secret_key)] = Field(description="Key in it.", examples=["passphrase"])


class OperatorFile(ContractModel):
    """The content of ``operator.yaml``."""

    repository: Annotated[str, AfterValidator(_repository)] = Field(
        description="Address of the Git repository of the stack files, for the operator.",
        examples=["https://github.com/acme/clusters"],
    )
    directory: Annotated[str, AfterValidator(_directory)] = Field(
        ".", description="Folder of the stack files in it. Default: its root.", examples=["clusters"]
    )
    git_token: SecretKey | None = Field(
        None,
        description="Access token for a private repository. Default: none.",
        examples=[{"secret": "git", "key": "token"}],
    )
    image: Annotated[str, AfterValidator(_image)] = Field(
        description="Image of this package, built from examples/container/Containerfile.",
        examples=["registry.example.com/igz-clusters:0.2.0"],
    )
    backend: Annotated[str, AfterValidator(_backend)] | None = Field(
        None, description="Address of the Pulumi backend. Default: Pulumi Cloud.", examples=["s3://acme-pulumi-state"]
    )
    namespace: Name = Field(
        "igz-clusters", description="Namespace of all objects. Default: igz-clusters.", examples=["clusters"]
    )
    service_account: Name = Field(
        "igz-clusters",
        description="Service account of the pods; it holds their rights in the cloud. Default: igz-clusters.",
        examples=["clusters"],
    )
    service_account_annotations: dict[Annotated[str, AfterValidator(_annotation)], Text] = Field(
        {},
        description="Annotations of the service account, such as those of an identity in the cloud. Default: none.",
        examples=[{"azure.workload.identity/client-id": "11111111-2222-3333-4444-555555555555"}],
    )
    image_pull_secrets: tuple[Annotated[str, AfterValidator(_secret_name)], ...] = Field(
        (), description="Secrets with which the pods pull the image. Default: none.", examples=[["registry"]]
    )
    pod_labels: dict[Annotated[str, AfterValidator(_label_key)], Annotated[Text, AfterValidator(_label_value)]] = Field(
        {}, description="Labels of the pods. Default: none.", examples=[{"azure.workload.identity/use": "true"}]
    )
    environment: dict[PlainVariable, Text] = Field(
        {},
        description="Environment variables of the pods that are not secret. Default: none.",
        examples=[{"AWS_REGION": "eu-west-1"}],
    )
    secret_environment: dict[Variable, SecretKey] = Field(
        {},
        description="Environment variables of the pods from Secrets. Default: none.",
        examples=[{"PULUMI_CONFIG_PASSPHRASE": {"secret": "pulumi", "key": "passphrase"}}],
    )
    resources: ResourceAmounts = Field(
        ResourceAmounts(cpu="1", memory="4Gi"),
        description="Requests of each pod, which are its limits too. Default: one core and 4Gi.",
        examples=[{"cpu": "2", "memory": "6Gi"}],
    )
    preview: bool = Field(
        False,  # noqa: FBT003 it is the default of the key
        strict=True,
        description="Whether the operator only shows what would change. Default: false.",
        examples=[True],
    )

    @field_validator("secret_environment", mode="after")
    @classmethod
    def _has_no_variable_twice(cls, given: dict[str, SecretKey], info: ValidationInfo) -> dict[str, SecretKey]:
        findings = Findings()
        for name in (name for name in given if name in info.data.get("environment", {})):
            findings.add("is in environment too; remove one", name)
        findings.raise_if_any()
        return given
