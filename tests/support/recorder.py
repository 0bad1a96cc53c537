"""Runs a Pulumi program without an engine and records every resource that it declares."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.json_format import MessageToDict
from pulumi.runtime import mocks

from workbench.offline.recorder import run_program

# A list goes in, and a map of what Azure knows of each comes out.
_IDENTITY = {"type": "UserAssigned", "userAssignedIdentities": dict[str, Any]()}

COMPUTED: dict[str, Callable[[str], dict[str, Any]]] = {
    "aws:backup/vault:Vault": lambda name: {"name": name},
    "aws:eks/cluster:Cluster": lambda name: {
        "endpoint": f"https://{name}.example",
        "certificateAuthority": {"data": "Y2VydGlmaWNhdGU="},
    },
    "aws:eks/nodeGroup:NodeGroup": lambda name: {"resources": [{"autoscalingGroups": [{"name": f"{name}-asg"}]}]},
    "aws:fsx/lustreFileSystem:LustreFileSystem": lambda name: {
        "dnsName": f"{name}.example",
        "mountName": f"{name}-mount",
    },
    "aws:ec2/launchTemplate:LaunchTemplate": lambda _: {"latestVersion": 1},
    "aws:ec2/placementGroup:PlacementGroup": lambda name: {"name": f"{name}-name"},
    "aws:iam/role:Role": lambda name: {"name": name},
    "azure-native:managedidentity:UserAssignedIdentity": lambda name: {
        "principalId": f"{name}-principal",
        "clientId": f"{name}-client",
    },
    "azure-native:resources:ResourceGroup": lambda name: {"name": f"{name}-name"},
    "azure-native:network:VirtualNetwork": lambda name: {"name": f"{name}-name"},
    "azure-native:storage:StorageAccount": lambda name: {"name": f"{name}-name"},
    "azure-native:containerservice:ManagedCluster": lambda name: {
        "name": f"{name}-name",
        "oidcIssuerProfile": {"enabled": True, "issuerURL": f"https://{name}.issuer.example"},
        "identity": _IDENTITY,
    },
    "azure-native:dataprotection:BackupVault": lambda name: {
        "name": f"{name}-name",
        "identity": {"type": "SystemAssigned", "principalId": f"{name}-principal"},
    },
    "azure-native:kubernetesconfiguration:Extension": lambda name: {
        "aksAssignedIdentity": {"type": "UserAssigned", "principalId": f"{name}-principal"}
    },
    "azure-native:storage:BlobContainer": lambda name: {"name": f"{name}-name"},
    "azure-native:logic:Workflow": lambda _: {"identity": _IDENTITY},
}
"""What the provider returns in addition to the inputs, by type, if a program reads it."""

ANSWERED: dict[str, dict[str, Any]] = {
    "azure-native:containerservice:listManagedClusterUserCredentials": {
        "kubeconfigs": [
            {
                "name": "clusterUser",
                "value": base64.b64encode(
                    b"clusters: [{name: theirs, cluster: {server: 'https://research.example:443',"
                    b" certificate-authority-data: Y2VydGlmaWNhdGU=}}]\n"
                    b"users: [{name: theirs, user: {token: canary-of-their-kubeconfig}}]\n"
                ).decode(),
            }
        ]
    }
}
"""What functions of a provider answer, by token. A program may call no other, and none in a first preview."""


@dataclass(frozen=True)
class Recorded:
    """One declared resource: its type token, logical name and inputs as the engine would get them."""

    type: str
    name: str
    inputs: dict[str, Any]
    provider: str


@dataclass(frozen=True)
class Options:
    """Options of a resource that the engine gets in addition to its inputs."""

    protect: bool
    retain_on_delete: bool
    delete_before_replace: bool | None
    """None leaves it to the provider."""
    ignore_changes: tuple[str, ...]
    parent: str
    dependencies: tuple[str, ...]
    """URNs of the resources that must exist first."""
    made_from: dict[str, tuple[tuple[str, str], ...]]
    """Type token and logical name of the resources that each input is made from, by the input's name."""
    replaced_with: tuple[tuple[str, str], ...]
    """Type token and logical name of the resources whose replacement replaces it too."""
    deleted_with: tuple[str, str] | None
    """Type token and logical name of the resource with which it is deleted, without a request of its own."""
    update_timeout: str
    """How long an update may take; empty leaves it to the provider."""


@dataclass
class Recorder(mocks.Mocks):
    """Answers the SDK in the engine's place and keeps what was declared."""

    resources: list[Recorded] = field(default_factory=list)
    options: dict[tuple[str, str], Options] = field(default_factory=dict)
    """By type token and logical name."""
    exports: dict[str, Any] = field(default_factory=dict)
    """The stack's outputs."""
    is_first_preview: bool = False
    """Whether nothing exists yet, so that no identifier and no computed value is known."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Token and arguments of each function of a provider that was called."""
    sent: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """Inputs by type token and logical name, with the engine's sentinel where a value is unknown."""
    _keys: dict[str, tuple[str, str]] = field(default_factory=dict)

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.resources.append(Recorded(args.typ, args.name, args.inputs, args.provider))
        computed = COMPUTED.get(args.typ, lambda _: {})(args.name)
        if self.is_first_preview:
            return "", {key: value for key, value in args.inputs.items() if key not in computed}
        return f"{args.name}-id", {"arn": f"arn:{args.typ}:{args.name}", **args.inputs, **computed}

    def call(self, args: mocks.MockCallArgs) -> dict[str, Any]:
        if self.is_first_preview or args.token not in ANSWERED:
            raise AssertionError(f"the program called {args.token}: no data source may be needed for a preview")
        self.calls.append((args.token, args.args))
        return ANSWERED[args.token]

    def keep(self, urn: str, request: Any) -> None:
        """Keep the options of the resource that ``request`` declares."""
        key = (request.type, request.name)
        self._keys[urn] = key
        self.sent[key] = MessageToDict(request.object)
        self.options[key] = Options(
            protect=request.protect,
            retain_on_delete=request.retainOnDelete,
            delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
            ignore_changes=tuple(request.ignoreChanges),
            parent=request.parent,
            dependencies=tuple(request.dependencies),
            made_from={
                name: tuple(self._keys[urn] for urn in sources.urns)
                for name, sources in request.propertyDependencies.items()
            },
            replaced_with=tuple(self._keys[urn] for urn in request.replace_with),
            deleted_with=self._keys.get(request.deletedWith),
            update_timeout=request.customTimeouts.update,
        )

    def needs(self, key: tuple[str, str]) -> set[tuple[str, str]]:
        """Return what must exist before the resource ``key``, through any number of steps; a destroy goes backwards."""
        found: set[tuple[str, str]] = set()
        todo = [key]
        while todo:
            options = self.options.get(todo.pop())
            for urn in (options.parent, *options.dependencies) if options else ():
                if (other := self._keys.get(urn)) and other not in found:
                    found.add(other)
                    todo.append(other)
        return found

    def of_type(self, token: str) -> dict[str, dict[str, Any]]:
        """Return the inputs of all resources of one type by logical name."""
        return {r.name: r.inputs for r in self.resources if r.type == token}


class _Monitor(mocks.MockMonitor):
    """Shows the recorder the whole request, of which ``Mocks`` see the inputs only."""

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 the SDK's name
        response = super().RegisterResource(request)
        if isinstance(self.mocks, Recorder):
            self.mocks.keep(response.urn, request)
        return response


def record(
    program: Callable[[], None], *, first_preview: bool = False, recorder: Recorder | None = None, stack: str = "test"
) -> Recorder:
    """Run ``program`` to its end, outputs and all, and return what it declared. Default: nothing is made."""
    recorder = recorder or Recorder(is_first_preview=first_preview)
    monitor = _Monitor(recorder)
    outputs = run_program(program, monitor, project="igz-clusters", stack=stack, is_preview=first_preview)
    recorder.exports.update(outputs)
    return recorder
