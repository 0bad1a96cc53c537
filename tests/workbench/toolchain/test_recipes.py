import re

import pytest

from workbench.toolchain import store
from workbench.toolchain.recipes import ALL, KUBERNETES_VERSION, PROVIDER_VERSION, PULUMI_VERSION, Artifact

ARTIFACTS = [artifact for bundle in ALL for artifact in bundle.artifacts]


def go_mod(module: str) -> str:
    return (store.SOURCES / module / "go.mod").read_text()


@pytest.mark.parametrize(
    ("artifact", "pinned"),
    [
        ("pulumi", f"github.com/pulumi/pulumi/pkg/v3 v{PULUMI_VERSION}"),
        ("pulumi", f"github.com/pulumi/pulumi/sdk/v3 v{PULUMI_VERSION}"),
        ("pulumi-language-python", "github.com/pulumi/pulumi/sdk/v3 v{version}"),
        ("kube-apiserver", "k8s.io/kubernetes v{version}"),
        ("etcd", "go.etcd.io/etcd/server/v3 v{version}"),
        ("kwok", "sigs.k8s.io/kwok v{version}"),
        ("cluster-autoscaler", "k8s.io/kubernetes v{version}"),
        ("cluster-autoscaler-aws", "k8s.io/kubernetes v{version}"),
        ("karpenter", "sigs.k8s.io/karpenter v{version}"),
        ("actionlint", "github.com/rhysd/actionlint v{version}"),
        ("pluto", "github.com/fairwindsops/pluto/v5 v{version}"),
        ("pulumi-language-yaml", "github.com/pulumi/pulumi-yaml v{version}"),
        ("pulumi-language-nodejs", "github.com/pulumi/pulumi/sdk/v3 v{version}"),
        ("mpi-operator", "github.com/kubeflow/mpi-operator v{version}"),
        ("workflow-controller", "github.com/argoproj/argo-workflows/v3 v{version}"),
        # The commit of its tag v10.2.2: the module's path lacks the suffix /v10, so Go offers no other version.
        ("polaris", "github.com/fairwindsops/polaris v0.0.0-20260806161001-dafa0b74fc09"),
    ],
)
def test_a_shown_version_is_the_pinned_one(artifact: str, pinned: str) -> None:
    recipe = next(recipe for recipe in ARTIFACTS if recipe.name == artifact)
    assert re.search(rf"\b{re.escape(pinned.format(version=recipe.version))}\b", go_mod(recipe.module))


def test_the_plug_ins_version_is_that_of_the_python_sdk() -> None:
    dependencies = (store.SOURCES.parent / "pyproject.toml").read_text()
    assert f'"pulumi-kubernetes=={PROVIDER_VERSION}"' in dependencies


def test_every_tool_line_is_built_and_every_published_package_is_a_tool() -> None:
    tools = {
        (folder.name, package)
        for folder in store.SOURCES.iterdir()
        if folder.is_dir()
        for package in re.findall(r"^(?:tool |\t)(\S+/\S+)$", go_mod(folder.name), re.MULTILINE)
    }
    published = {(artifact.module, artifact.package) for artifact in ARTIFACTS if artifact.package[0] != "."}
    assert tools == published


def test_every_folder_of_the_toolchain_is_used() -> None:
    used = {module for bundle in ALL for module in bundle.modules}
    assert used == {folder.name for folder in store.SOURCES.iterdir() if folder.is_dir()}


def test_the_engine_and_its_language_host_share_a_folder() -> None:
    # The engine warns on every run about a host that does not lie beside it.
    engine = next(bundle for bundle in ALL if "pulumi" in bundle.versions)
    assert engine.versions == {
        "pulumi": PULUMI_VERSION,
        "pulumi-language-python": "3.192.0",
        "pulumi-language-python-exec": PULUMI_VERSION,
        "pulumi-resource-pulumi-python": PULUMI_VERSION,
    }


def linked(artifact: Artifact) -> dict[str, str]:
    return {name.rpartition(".")[2]: value for name, value in artifact.variables}


def test_kubernetes_programs_tell_their_release() -> None:
    apiserver = next(artifact for artifact in ARTIFACTS if artifact.name == "kube-apiserver")
    major, minor, _ = KUBERNETES_VERSION.split(".")
    assert linked(apiserver) == {"gitVersion": f"v{KUBERNETES_VERSION}", "gitMajor": major, "gitMinor": minor}
