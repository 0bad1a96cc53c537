"""The operator's objects: what follows from the files of a folder, and how objects in a folder differ from it."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from workbench import stacks
from workbench.pulumi_operator import folder as operated
from workbench.pulumi_operator.manifests import WORKSPACES
from workbench.pulumi_operator.model import IMAGE_FOLDER
from workbench.system.errors import UserError

Folder = Callable[..., Path]

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = "f" * 40
WAVES = """\
waves:
  - name: canary
    stacks: [acme-dev]
  - name: laptops
    stacks: [local]
  - name: staging
    stacks: ["*-staging"]
  - name: rest
    stacks: [acme-prod]
"""
ALL = """\
repository: https://github.com/acme/clusters
directory: clusters
gitToken: {secret: git, key: token}
image: registry.example.com/igz-clusters:0.2.0
backend: s3://acme-state
namespace: clusters
serviceAccount: updates
serviceAccountAnnotations: {example.com/role: updates}
imagePullSecrets: [registry]
podLabels: {azure.workload.identity/use: "true"}
environment: {AWS_REGION: eu-west-1}
secretEnvironment:
  PULUMI_CONFIG_PASSPHRASE: {secret: pulumi, key: passphrase}
resources: {cpu: "2", memory: 6Gi}
preview: true
"""


def objects(commit: str = COMMIT) -> Mapping[str, list[dict[str, Any]]]:
    found = operated.read()
    return found.files(dict.fromkeys(found.stacks, commit))


def spec(name: str) -> dict[str, Any]:
    (found,) = objects()[name]
    assert (found["apiVersion"], found["kind"], found["metadata"]["name"]) == ("pulumi.com/v1", "Stack", name)
    value: dict[str, Any] = found["spec"]
    return value


def refusal() -> str:
    with pytest.raises(UserError) as refused:
        operated.read()
    return str(refused.value)


def test_a_stack_runs_in_the_image_at_a_commit_and_finds_only_our_pulumi(folder: Folder) -> None:
    folder("acme-dev")
    found = spec("acme-dev")
    assert found["stack"] == "acme-dev"
    assert found["projectRepo"] == "https://github.com/acme/clusters"
    assert found["commit"] == COMMIT
    assert found["envRefs"]["PATH"]["literal"]["value"].startswith(f"{IMAGE_FOLDER}:")
    assert found["envRefs"]["USER"]["literal"]["value"], "the engine looks for the user's name, and the image has none"
    workspace = found["workspaceTemplate"]["spec"]
    assert workspace["image"] == "registry.example.com/igz-clusters:0.2.0"
    assert workspace["securityProfile"] == "restricted"
    assert workspace["resources"]["requests"] == workspace["resources"]["limits"]
    absent = {"branch", "config", "destroyOnFinalize", "preview", "prerequisites", "repoDir", "gitAuth"}
    assert absent.isdisjoint(found)


def test_every_choice_is_in_the_objects(folder: Folder) -> None:
    folder("acme-dev", operator=ALL, secretsprovider="awskms://alias/pulumi")
    found = spec("acme-dev")
    assert found["repoDir"] == "clusters"
    assert found["gitAuth"] == {"accessToken": {"type": "Secret", "secret": {"name": "git", "key": "token"}}}
    assert found["backend"] == "s3://acme-state"
    assert found["secretsProvider"] == "awskms://alias/pulumi"
    assert found["serviceAccountName"] == "updates"
    assert found["preview"] is True
    assert found["envRefs"]["AWS_REGION"] == {"type": "Literal", "literal": {"value": "eu-west-1"}}
    passphrase = {"type": "Secret", "secret": {"name": "pulumi", "key": "passphrase"}}
    assert found["envRefs"]["PULUMI_CONFIG_PASSPHRASE"] == passphrase
    workspace = found["workspaceTemplate"]["spec"]
    assert workspace["resources"]["limits"] == {"cpu": "2", "memory": "6Gi"}
    assert workspace["podTemplate"]["metadata"]["labels"] == {"azure.workload.identity/use": "true"}
    namespace, account, binding = objects()[WORKSPACES]
    assert namespace["metadata"]["name"] == "clusters"
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert account["imagePullSecrets"] == [{"name": "registry"}]
    assert account["metadata"]["annotations"] == {"example.com/role": "updates"}
    assert binding["roleRef"]["name"] == "system:auth-delegator"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "updates", "namespace": "clusters"}]


def test_a_stack_waits_for_all_waves_before_it(folder: Folder) -> None:
    folder("acme-dev", "acme-prod", "eu-staging", "us-staging", "local", "extra", fleet=WAVES)
    waits = {name: [each["name"] for each in spec(name).get("prerequisites", [])] for name in operated.read().stacks}
    assert waits == {
        "acme-dev": [],
        "eu-staging": ["acme-dev"],
        "us-staging": ["acme-dev"],
        "acme-prod": ["acme-dev", "eu-staging", "us-staging"],
    }
    assert operated.read().left_out == {
        "local": "is a local stack, which needs no operator",
        "extra": "is in no wave of fleet.yaml",
    }


def test_names_of_stacks_that_the_operator_does_not_update_are_refused_together(folder: Folder) -> None:
    folder("acme-dev", "local", "extra", fleet="waves: [{name: all, stacks: [acme-dev, local]}]")
    found = operated.read()
    assert found.chosen(()) == ("acme-dev",)
    with pytest.raises(UserError) as refused:
        found.chosen(("local", "extra", "acme-dev"))
    assert str(refused.value).splitlines() == [
        "local: is a local stack, which needs no operator.",
        "extra: is in no wave of fleet.yaml.",
    ]


def test_a_folder_without_the_file_says_how_to_begin(folder: Folder) -> None:
    place = folder("acme-dev")
    (place / "operator.yaml").unlink()
    said = refusal()
    assert said.startswith(f"There is no operator.yaml in {place}.")
    lines = said.partition("these lines:\n")[2]
    (place / "operator.yaml").write_text(lines)
    assert operated.read().choices.backend == "s3://acme-pulumi-state"


def test_a_folder_without_a_project_file_says_what_it_must_have(folder: Folder) -> None:
    place = folder("acme-dev")
    (place / "Pulumi.yaml").unlink()
    said = refusal()
    assert f"needs a Pulumi.yaml in {place}" in said
    (place / "Pulumi.yaml").write_text(said.partition("is in the image:\n")[2])
    assert list(operated.read().stacks) == ["acme-dev"]
    (place / "Pulumi.yaml").write_text("name: other\nruntime: python\n")
    assert "name must be 'igz-clusters', the project in whose state the stacks are, not 'other'" in refusal()


def test_mistakes_of_all_files_are_named_together(folder: Folder) -> None:
    place = folder("acme-dev", operator="repository: x\n", fleet="waves: []\n")
    (place / "Pulumi.yaml").unlink()
    said = refusal()
    for part in ("operator.yaml:1: repository", "image: is required", "fleet.yaml:1", "needs a Pulumi.yaml"):
        assert part in said


def test_a_folder_of_local_stacks_has_nothing_for_the_operator(folder: Folder) -> None:
    folder("local")
    assert "has no stack in a cloud" in refusal()


LONG = "a" * 43


def test_what_would_fail_in_the_operators_cluster_is_refused_together(folder: Folder) -> None:
    folder("acme-dev", "0-dev", LONG, operator="repository: https://h/a\nimage: a/b:1\nbackend: s3://state\n")
    assert refusal().splitlines() == [
        *(
            f"{name}: the operator takes names of at most 42 characters that start with a letter"
            for name in ("0-dev", LONG)
        ),
        *(
            f"{name}: needs `secretsprovider` in its stack file, or PULUMI_CONFIG_PASSPHRASE in secretEnvironment of "
            "operator.yaml"
            for name in ("0-dev", LONG, "acme-dev")
        ),
    ]


def test_pulumi_cloud_needs_a_token(folder: Folder) -> None:
    folder("acme-dev", operator="repository: https://h/a\nimage: a/b:1\n")
    assert refusal() == "operator.yaml: secretEnvironment: Pulumi Cloud needs PULUMI_ACCESS_TOKEN; or set `backend`"


def test_a_stack_in_pulumi_cloud_may_have_a_passphrase(folder: Folder) -> None:
    choices = "repository: https://h/a\nimage: a/b:1\nsecretEnvironment: {PULUMI_ACCESS_TOKEN: {secret: a, key: b}}\n"
    folder("acme-dev", operator=choices)
    assert list(operated.read().stacks) == ["acme-dev"]
    for keys in (
        {"secretsprovider": "passphrase"},
        {"encryptionsalt": "v1:x"},
        {"secretsprovider": "default", "encryptionsalt": "v1:x"},
    ):
        folder("acme-dev", operator=choices, **keys)
        assert refusal().startswith("acme-dev: needs `secretsprovider` in its stack file, or PULUMI_CONFIG_PASSPHRASE")


def test_a_stack_file_may_say_how_its_secrets_are_encrypted(folder: Folder) -> None:
    keys = {"secretsprovider": "awskms://alias/pulumi"}
    folder("acme-dev", operator="repository: https://h/a\nimage: a/b:1\nbackend: s3://state\n", **keys)
    assert list(operated.read().stacks) == ["acme-dev"]


def test_the_directory_must_be_that_of_the_stack_files(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "--quiet", str(folder("acme-dev"))], check=True)
    assert list(operated.read().stacks) == ["acme-dev"]
    inner = tmp_path / "clusters"
    inner.mkdir()
    for file in tmp_path.glob("*.yaml"):
        file.rename(inner / file.name)
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(inner))
    said = f"operator.yaml: directory: must be 'clusters', where {inner} is in its repository, not '.'"
    assert refusal() == said
    (inner / "operator.yaml").write_text(f"directory: clusters/\n{(inner / 'operator.yaml').read_text()}")
    assert list(operated.read().stacks) == ["acme-dev"]


@pytest.mark.parametrize("text", ["- a\n", "a: [\n"], ids=["list", "broken"])
def test_a_file_that_is_no_mapping_is_refused(folder: Folder, text: str) -> None:
    folder("acme-dev", operator=text)
    assert "1 problem in operator.yaml" in refusal()


def test_written_objects_are_up_to_date_until_something_changes(folder: Folder) -> None:
    out = folder("acme-dev", "acme-prod") / "out"
    files = objects()
    assert [file.name for file in operated.write(out, files)] == [
        f"{WORKSPACES}.yaml",
        "acme-dev.yaml",
        "acme-prod.yaml",
    ]
    assert operated.write(out, files) == []
    assert list(operated.differences(out, operated.read())) == []
    assert min(file.name for file in out.iterdir()) == f"{WORKSPACES}.yaml", "the namespace comes first"
    assert [file.name for file in operated.write(out, objects(OTHER))] == ["acme-dev.yaml", "acme-prod.yaml"]
    assert list(operated.differences(out, operated.read())) == [], "each object may name a commit of its own"


def test_every_difference_is_named(folder: Folder) -> None:
    out = folder("acme-dev", "acme-prod", "local") / "out"
    operated.write(out, objects())
    changed = yaml.safe_load((out / "acme-dev.yaml").read_text())
    other = "https://example.com/other"
    changed["spec"] |= {"destroyOnFinalize": True, "projectRepo": other}
    del changed["spec"]["workspaceTemplate"]["spec"]["securityProfile"]
    (out / "acme-dev.yaml").write_text(yaml.safe_dump_all([changed, {"kind": "Secret", "metadata": {"name": "x"}}]))
    (out / "acme-prod.yaml").unlink()
    (out / "local.yaml").write_text("kind: Stack\n")
    (out / "old.yaml").write_text("kind: Stack\n")
    shared = list(yaml.safe_load_all((out / f"{WORKSPACES}.yaml").read_text()))
    (out / f"{WORKSPACES}.yaml").write_text(yaml.safe_dump_all(shared[:2]))
    delete = "delete the file and the objects in it"
    assert list(operated.differences(out, operated.read())) == [
        "acme-prod.yaml: is missing",
        f"local.yaml: local is a local stack, which needs no operator; {delete}",
        f"old.yaml: old is the name of no stack in a cloud; {delete}",
        f"{WORKSPACES}.yaml: ClusterRoleBinding igz-clusters:igz-clusters:auth-delegator: is missing",
        "acme-dev.yaml: Stack acme-dev: spec.destroyOnFinalize: is true, must be absent",
        f"acme-dev.yaml: Stack acme-dev: spec.projectRepo: is '{other}', must be 'https://github.com/acme/clusters'",
        "acme-dev.yaml: Stack acme-dev: spec.workspaceTemplate.spec.securityProfile: is absent, must be 'restricted'",
        "acme-dev.yaml: Secret x: is not expected; remove it",
    ]


def test_objects_that_kubectl_applies_too_are_named(folder: Folder) -> None:
    out = folder("acme-dev") / "out"
    operated.write(out, objects())
    (same,) = yaml.safe_load_all((out / "acme-dev.yaml").read_text())
    elsewhere = {**same, "metadata": {**same["metadata"], "namespace": "other"}}
    (out / "acme-dev.yaml").write_text(yaml.safe_dump_all([elsewhere, same, same]))
    for name in ("more.yml", "more.json", "notes.md"):
        (out / name).write_text("kind: Stack\n")
    assert list(operated.differences(out, operated.read())) == [
        *(
            f"more.{end}: is not expected, and `kubectl apply --filename` applies it; delete it"
            for end in ("json", "yml")
        ),
        "acme-dev.yaml: Stack acme-dev: appears 2 times; keep one",
        "acme-dev.yaml: Stack acme-dev in namespace other: is not expected; remove it",
    ]


def test_a_file_that_is_no_text_is_written_again(folder: Folder) -> None:
    out = folder("acme-dev") / "out"
    operated.write(out, objects())
    (out / "acme-dev.yaml").write_bytes(b"\xff")
    assert operated.write(out, objects()) == [out / "acme-dev.yaml"]


@pytest.mark.parametrize("change", ["commit: main", "commit: 12", ""], ids=["branch", "number", "absent"])
def test_an_object_without_a_whole_commit_differs(folder: Folder, change: str) -> None:
    out = folder("acme-dev") / "out"
    operated.write(out, objects())
    file = out / "acme-dev.yaml"
    file.write_text(file.read_text().replace(f"  commit: {COMMIT}", f"  {change}"))
    (found,) = operated.differences(out, operated.read())
    assert found.startswith("acme-dev.yaml: Stack acme-dev: spec.commit: is ")


def test_a_folder_that_cannot_be_compared_is_an_error(folder: Folder) -> None:
    place = folder("acme-dev")
    with pytest.raises(UserError, match="has no objects"):
        list(operated.differences(place / "none", operated.read()))
    out = place / "out"
    operated.write(out, objects())
    (out / "acme-dev.yaml").write_text("a: [")
    (out / "dates.yaml").write_text("metadata: {2026-11-27: reviewed}\n")
    (out / "latin.yaml").write_bytes("a: é".encode("latin-1"))
    (out / "more.yaml").write_text("- 1\n")
    (out / "round.yaml").write_text("a: &a {b: *a}\n")
    with pytest.raises(UserError) as refused:
        list(operated.differences(out, operated.read()))
    for name in ("acme-dev", "dates", "latin", "round"):
        assert f"{name}.yaml is not plain YAML" in str(refused.value)
    assert "more.yaml must have Kubernetes objects only" in str(refused.value)
