"""Build recipes: programs, pinned Go modules and flags.

The Go modules are pinned in ``toolchain/*/go.mod``. A version is repeated here only where a linker flag, a plug-in's
name or a report needs it; a test compares it with the ``go.mod``.
"""

from dataclasses import dataclass, field
from typing import Literal

GOFLAGS = "-mod=readonly -trimpath -buildvcs=false"
"""Flags of every build: pins stay fixed, and binaries contain no folder name or git state."""

PULUMI_VERSION = "3.259.0"
KUBERNETES_VERSION = "1.36.3"
PROVIDER_VERSION = "4.25.0"

_SDK = "github.com/pulumi/pulumi/sdk/v3"
_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_COMPONENT = "k8s.io/component-base/version"


@dataclass(frozen=True)
class Artifact:
    """One Go program.

    Parameters
    ----------
    name
        File name of the binary.
    module
        Folder under ``toolchain/`` with the ``go.mod`` that it is built in.
    package
        Go package, an import path or a path inside that folder.
    version
        Version that is shown to the user, without a leading ``v``.
    seconds
        Expected seconds of a cold build on two cores; shown as progress, not part of the cache key.
    variables
        Strings that the linker sets (``-X``), as ``(variable, value)``.
    tags
        Build tags.
    """

    name: str
    module: str
    package: str
    version: str
    seconds: int = field(repr=False)
    variables: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Copied:
    """A plain file that is taken out of a published Go module.

    Parameters
    ----------
    module
        Path of the published Go module.
    pinned_by
        Folder under ``toolchain/`` whose ``go.mod`` pins the module.
    path
        The file, relative to the module.
    to
        ``bin``: an executable next to the binaries; ``source``: next to ``main.go``, to be embedded.
    json_fields
        Top-level fields that are added to a JSON file, as ``(name, value)``.
    """

    module: str
    pinned_by: str
    path: str
    to: Literal["bin", "source"]
    json_fields: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """File name without its folder."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Bundle:
    """Programs that are built and cached together, because they share a folder or their code.

    Parameters
    ----------
    name
        Start of its folder's name in the cache.
    artifacts
        Programs that it builds.
    scratch_gib, download_gib
        GiB, rounded up, that a cold build takes in the Go build cache (binaries included) and in the user's
        module cache; not part of the cache key.
    copied
        Files from published modules.
    """

    name: str
    artifacts: tuple[Artifact, ...]
    scratch_gib: float = field(repr=False)
    download_gib: float = field(repr=False)
    copied: tuple[Copied, ...] = ()

    @property
    def modules(self) -> tuple[str, ...]:
        """Folders under ``toolchain/`` whose files decide what is built."""
        used = [artifact.module for artifact in self.artifacts] + [copy.pinned_by for copy in self.copied]
        return tuple(dict.fromkeys(used))

    @property
    def versions(self) -> dict[str, str]:
        """Version of each file that ends up in ``bin``, by file name."""
        scripts = {copy.name: PULUMI_VERSION for copy in self.copied if copy.to == "bin"}
        return {artifact.name: artifact.version for artifact in self.artifacts} | scripts


def _kubernetes(program: str, seconds: int) -> Artifact:
    major, minor, _ = KUBERNETES_VERSION.split(".")
    return Artifact(
        program,
        "kubernetes",
        f"k8s.io/kubernetes/cmd/{program}",
        KUBERNETES_VERSION,
        seconds,
        (
            (f"{_COMPONENT}.gitVersion", f"v{KUBERNETES_VERSION}"),
            (f"{_COMPONENT}.gitMajor", major),
            (f"{_COMPONENT}.gitMinor", minor),
        ),
    )


# The engine warns on every run unless the language host is in its folder. The newest published host does not
# compile against the engine's own libraries, so it has its own pins; the two scripts that it starts come with
# the engine's release.
ENGINE = Bundle(
    "engine",
    (
        Artifact(
            "pulumi",
            "pulumi",
            "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
            PULUMI_VERSION,
            184,
            ((f"{_SDK}/go/common/version.Version", PULUMI_VERSION),),
        ),
        Artifact(
            "pulumi-language-python",
            "language-python",
            "github.com/pulumi/pulumi/sdk/python/cmd/pulumi-language-python/v3",
            "3.192.0",
            43,
        ),
    ),
    scratch_gib=3.0,
    download_gib=3.0,
    copied=(
        Copied(_SDK, "pulumi", "python/cmd/pulumi-language-python-exec", "bin"),
        Copied(_SDK, "pulumi", "python/dist/pulumi-resource-pulumi-python", "bin"),
    ),
)
"""Replaced by the user's own Pulumi if that is suitable."""

KUBERNETES = Bundle(
    "kubernetes",
    (
        Artifact("etcd", "kubernetes", "./etcd", "3.6.8", 10),
        _kubernetes("kube-apiserver", 157),
        _kubernetes("kube-scheduler", 16),
        _kubernetes("kube-controller-manager", 34),
        _kubernetes("kubectl", 49),
    ),
    scratch_gib=3.5,
    download_gib=1.0,
)

KUBERNETES_PROVIDER = Bundle(
    "kubernetes-provider",
    (
        Artifact(
            "pulumi-resource-kubernetes",
            "kubernetes-provider",
            ".",
            PROVIDER_VERSION,
            300,
            ((f"{_PROVIDER}/pkg/version.Version", PROVIDER_VERSION),),
        ),
    ),
    scratch_gib=3.0,
    download_gib=1.5,
    copied=(
        Copied(
            _PROVIDER,
            "kubernetes-provider",
            "cmd/pulumi-resource-kubernetes/schema.json",
            "source",
            (("version", PROVIDER_VERSION),),
        ),
        Copied(
            _PROVIDER,
            "kubernetes-provider",
            "cmd/pulumi-resource-kubernetes/terraform-mapping.json",
            "source",
        ),
    ),
)

KWOK = Bundle(
    "kwok",
    (Artifact("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok", "0.8.0", 36),),
    scratch_gib=1.0,
    download_gib=0.5,
)


def _autoscaler(name: str, provider: str) -> Bundle:
    """Return the autoscaler with the code of one cloud only."""
    package = "k8s.io/autoscaler/cluster-autoscaler"
    return Bundle(
        name,
        (Artifact(name, "cluster-autoscaler", package, "1.33.1", 127, tags=(provider,)),),
        scratch_gib=2.0,
        download_gib=2.0,
    )


# Built against an older Kubernetes minor than the API server: the newest published code with the kwok provider.
CLUSTER_AUTOSCALER = _autoscaler("cluster-autoscaler", "kwok")

# The same code for AWS: a test compares what it raises on the AWS emulator with what a rehearsal says.
CLUSTER_AUTOSCALER_AWS = _autoscaler("cluster-autoscaler-aws", "aws")

# Karpenter as a library, in a program of ours with a clock that runs as fast as a rehearsal.
KARPENTER = Bundle(
    "karpenter",
    (Artifact("karpenter", "karpenter", ".", "1.13.0", 81),),
    scratch_gib=1.5,
    download_gib=0.5,
)

ACTIONLINT = Bundle(
    "actionlint",
    (Artifact("actionlint", "actionlint", "github.com/rhysd/actionlint/cmd/actionlint", "1.7.12", 30),),
    scratch_gib=0.5,
    download_gib=0.1,
)

SCANNERS = Bundle(
    "scanners",
    (
        Artifact(
            "pluto",
            "scanners",
            "github.com/fairwindsops/pluto/v5/cmd/pluto",
            "5.24.3",
            40,
            (("main.version", "5.24.3"),),
        ),
        Artifact("polaris", "scanners", "github.com/fairwindsops/polaris", "10.2.2", 70, (("main.Version", "10.2.2"),)),
    ),
    scratch_gib=1.0,
    download_gib=0.5,
)

# The controller of MPIJob v1, which MLRun creates: MLRun CE's chart installs Iguazio's build of 0.2.3, and this is the
# last release that has it.
MPI_OPERATOR = Bundle(
    "mpi-operator",
    (
        Artifact(
            "mpi-operator",
            "mpi-operator",
            "github.com/kubeflow/mpi-operator/cmd/mpi-operator.v1",
            "0.3.0",
            60,
        ),
    ),
    scratch_gib=0.5,
    download_gib=0.5,
)

ARGO = Bundle(
    "argo",
    (
        Artifact(
            "workflow-controller",
            "argo",
            "github.com/argoproj/argo-workflows/v3/cmd/workflow-controller",
            "3.4.17",
            180,
        ),
    ),
    scratch_gib=1.5,
    download_gib=1.5,
)

# For programs in YAML and TypeScript that use the component package; a full test runs both. The newest published hosts
# are older than the engine, and are built against libraries of their time.
LANGUAGE_HOSTS = Bundle(
    "language-hosts",
    (
        Artifact(
            "pulumi-language-yaml",
            "language-hosts",
            "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
            "1.25.0",
            120,
            (("github.com/pulumi/pulumi-yaml/pkg/version.Version", "1.25.0"),),
        ),
        Artifact(
            "pulumi-language-nodejs",
            "language-hosts",
            "github.com/pulumi/pulumi/sdk/nodejs/cmd/pulumi-language-nodejs/v3",
            "3.206.0",
            30,
        ),
    ),
    scratch_gib=2.0,
    download_gib=2.0,
)

BUNDLES = (ENGINE, KUBERNETES, KUBERNETES_PROVIDER, KWOK, CLUSTER_AUTOSCALER)
"""What clusters need, in build order."""

ON_DEMAND = (KARPENTER, ACTIONLINT, SCANNERS, MPI_OPERATOR, ARGO, CLUSTER_AUTOSCALER_AWS, LANGUAGE_HOSTS)
"""Needed for duels (the first), and for development only; built when one of its programs is requested by name."""

ALL = (*BUNDLES, *ON_DEMAND)
"""Everything that is pinned."""
