"""Runs a stack's program in this process, and evaluates what it declares: offline providers, then both packs.

It is a first preview without the engine: the same program, the same checks of inputs, the same rules.
Nothing is compared with a state or a cluster, and nothing is started.
"""

import gc
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final

from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import mocks
from pulumi.runtime.proto import analyzer_pb2, provider_pb2, resource_pb2
from typing_extensions import override

from components.contract.existing.cluster_inventory import ClusterInventory
from components.contract.existing.config import ExistingConfig
from infra.config import CONFIG_KEY, StackConfig, parse
from infra.program import run
from policies.pack_harness import Wire
from workbench.offline.plugin import Servicer
from workbench.offline.properties import UNKNOWN, plain
from workbench.offline.provider import Problem, Provider
from workbench.offline.providers import planning
from workbench.offline.recorder import run_program
from workbench.stacks import Stack
from workbench.system.errors import UserError

PROJECT: Final = "igz-clusters"
"""Name of the project, as in ``Pulumi.yaml``."""

STACK_TYPE: Final = "pulumi:pulumi:Stack"

_PROVIDER_TYPE: Final = "pulumi:providers:"
_OBJECT_TYPE: Final = "kubernetes:"
_INTERNAL: Final = "__"
"""Prefix of inputs that providers add for internal use; the engine does not pass them to rules."""


@dataclass(frozen=True)
class Message:
    """A message from a rule.

    Parameters
    ----------
    urn
        URN of the resource, or of the stack for messages about the whole stack.
    policy, pack
        Names.
    text
        As the engine would print it; ``policies.diagnostics`` reads it.
    is_mandatory
        Whether it stops an update.
    """

    urn: str
    policy: str
    pack: str
    text: str
    is_mandatory: bool


@dataclass(frozen=True)
class Refused:
    """An input that the cloud's own API model or the provider refuses."""

    urn: str
    problem: Problem


@dataclass
class Declared:
    """Result of running a stack's program.

    Parameters
    ----------
    messages
        Messages of the rules, in the order of the resources.
    remedied
        URN and policy of each resource that a rule changed before it was judged.
    refused
        Inputs that a provider rejects.
    resources
        How many resources the program declares, components included.
    unknown
        How many values of inputs are known only once other resources exist.
    objects
        Manifests of the Kubernetes objects in the order of their declaration, without values that are unknown.
    judged
        Ids of the rules that concerned something; the others have nothing to judge, or are off.
    """

    messages: list[Message] = field(default_factory=list)
    remedied: list[tuple[str, str]] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    resources: int = 0
    unknown: int = 0
    objects: list[dict[str, Any]] = field(default_factory=list)
    judged: frozenset[str] = frozenset()


def declared(stack: Stack, configuration: Mapping[str, Mapping[str, Any]]) -> Declared:
    """Run the program of ``stack`` and evaluate what it declares.

    Parameters
    ----------
    stack
        The stack with its choices.
    configuration
        The packs' configuration by policy, such as ``policy_overrides.pack_configuration`` returns.

    Raises
    ------
    UserError
        The program called a function of a cloud, which no first preview may.
    """
    # The engine hands configuration on with its keys sorted, and the order of pools shows in messages.
    choices = json.loads(json.dumps(stack.document["config"][CONFIG_KEY], sort_keys=True))
    config = parse(choices)
    packs = Wire(stack=choices, config=configuration)
    engine = _Engine(packs)
    was_enabled = gc.isenabled()
    gc.disable()  # as `infra` does: it would take a third of the time and free little
    try:
        run_program(lambda: _program(config), engine, project=PROJECT, stack=stack.name, is_preview=True)
    finally:
        if was_enabled:
            gc.enable()
    return engine.finished()


def _program(config: StackConfig) -> None:
    """Declare the stack as in a render: there is no kubeconfig to read, and no node of an existing cluster is known."""
    cluster = config.cluster
    unseen = ClusterInventory(cluster.cluster_id) if isinstance(cluster, ExistingConfig) else None
    run(config, kubeconfig=str(Path("/nowhere") / "kubeconfig"), sighting=unseen)


class _NoFunctions(mocks.Mocks):
    """Refuses every call, since a first preview makes none."""

    @override
    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        raise NotImplementedError(args.typ)

    @override
    def call(self, args: mocks.MockCallArgs) -> Any:
        raise UserError(f"The program calls {args.token}, which needs a cloud.", "Use `igz-clusters preview`.")


class _Engine(mocks.MockMonitor):
    """Handles a declared resource as in the engine's first preview: check, remediate, evaluate, predict."""

    def __init__(self, packs: Wire) -> None:
        super().__init__(_NoFunctions())
        self._packs = packs.servicer
        self._providers: dict[str, _Configured] = {}
        """By URN."""
        self._declared: list[analyzer_pb2.AnalyzerResource] = []
        self._result = Declared()
        self._one_at_a_time = Lock()
        """The SDK registers from several threads."""

    @override
    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Return a URN as the engine builds it: with the types of all parents, but not the stack's."""
        if parent and (above := parent.split("::")[2]) != STACK_TYPE:
            type_ = f"{above}${type_}"
        return super().make_urn("", type_, name)

    @override
    def RegisterResource(self, request: Any) -> resource_pb2.RegisterResourceResponse:
        """Register a resource; its id and what its provider cannot predict stay unknown."""
        urn = self.make_urn(request.parent, request.type, request.name)
        with self._one_at_a_time:
            return resource_pb2.RegisterResourceResponse(urn=urn, object=self._register(urn, request))

    def _register(self, urn: str, request: Any) -> Struct:
        if request.type.startswith(_PROVIDER_TYPE):
            self._providers[urn] = _Configured.of(request)
        provider = self._providers.get(request.provider.rpartition("::")[0]) if request.custom else None
        inputs = self._checked(provider, urn, request.object)
        if inputs is None:
            return Struct()
        if remedied := self._remedied(_question(urn, request, inputs)):
            inputs = self._checked(provider, urn, remedied)
            if inputs is None:
                return Struct()
        question = _question(urn, request, inputs)
        self._take(self._packs.Analyze(question, None), urn)
        self._declared.append(_resource(question, request))
        taken = plain(inputs)
        self._result.unknown += sum(_unknowns(taken))
        if request.type.startswith(_OBJECT_TYPE) and "apiVersion" in taken:
            self._result.objects.append(_known({key: taken[key] for key in taken if not key.startswith(_INTERNAL)}))
        return provider.foreseen(urn, inputs) if provider else inputs

    def _checked(self, provider: "_Configured | None", urn: str, inputs: Struct) -> Struct | None:
        """Return the inputs as the provider completes them; None if it rejects them, which is recorded."""
        if provider is None:
            return inputs
        checked, problems = provider.check(urn, inputs)
        self._result.refused.extend(Refused(urn, problem) for problem in problems)
        return None if problems else checked

    def _remedied(self, question: analyzer_pb2.AnalyzeRequest) -> Struct | None:
        remediations = self._packs.Remediate(question, None).remediations
        for each in remediations:
            self._result.remedied.append((question.urn, each.policyName))
        return remediations[-1].properties if remediations else None

    def _take(self, response: analyzer_pb2.AnalyzeResponse, urn: str) -> None:
        for said in response.diagnostics:
            is_mandatory = said.enforcementLevel == analyzer_pb2.MANDATORY
            message = Message(said.urn or urn, said.policyName, said.policyPackName, said.message, is_mandatory)
            self._result.messages.append(message)

    def finished(self) -> Declared:
        """Evaluate the stack-wide rules and return all results."""
        whole = analyzer_pb2.AnalyzeStackRequest(resources=self._declared)
        [stack] = [each.urn for each in self._declared if each.type == STACK_TYPE]
        self._take(self._packs.AnalyzeStack(whole, None), stack)
        self._result.resources = len(self._declared)
        self._result.judged = frozenset(self._packs.judged)
        return self._result


@dataclass(frozen=True)
class _Configured:
    """A provider of the program, and whether all of its configuration is known."""

    servicer: Servicer
    is_known: bool

    @classmethod
    def of(cls, request: Any) -> "_Configured":
        servicer = Servicer(_provider(request.type.removeprefix(_PROVIDER_TYPE)))
        servicer.Configure(provider_pb2.ConfigureRequest(args=request.object), _NO_CALL)
        return cls(servicer, not any(_unknowns(plain(request.object))))

    def check(self, urn: str, inputs: Struct) -> tuple[Struct, list[Problem]]:
        # The engine does not call providers whose configuration is unknown yet.
        if not self.is_known:
            return inputs, []
        answer = self.servicer.Check(provider_pb2.CheckRequest(urn=urn, news=inputs, randomSeed=b"check"), _NO_CALL)
        return answer.inputs, [Problem(each.property, each.reason) for each in answer.failures]

    def foreseen(self, urn: str, inputs: Struct) -> Struct:
        if not self.is_known:
            return Struct()
        return self.servicer.Create(
            provider_pb2.CreateRequest(urn=urn, properties=inputs, preview=True), _NO_CALL
        ).properties


_NO_CALL: Final[Any] = None
"""Replaces the gRPC context, which these calls never use."""


def _provider(package: str) -> Provider:
    if found := planning(package):
        return found
    raise UserError(f"No offline provider for the package {package}.", "Use `igz-clusters preview`.")


def _question(urn: str, request: Any, inputs: Struct) -> analyzer_pb2.AnalyzeRequest:
    question = analyzer_pb2.AnalyzeRequest(
        type=request.type,
        name=request.name,
        urn=urn,
        properties=inputs,
        options=analyzer_pb2.AnalyzerResourceOptions(protect=request.protect, ignoreChanges=request.ignoreChanges),
    )
    for key in [key for key in question.properties.fields if key.startswith(_INTERNAL)]:
        del question.properties.fields[key]
    return question


def _resource(question: analyzer_pb2.AnalyzeRequest, request: Any) -> analyzer_pb2.AnalyzerResource:
    return analyzer_pb2.AnalyzerResource(
        type=question.type,
        name=question.name,
        urn=question.urn,
        properties=question.properties,
        options=question.options,
        parent=request.parent,
        propertyDependencies={
            key: analyzer_pb2.AnalyzerPropertyDependencies(urns=made.urns)
            for key, made in request.propertyDependencies.items()
        },
    )


def _unknowns(value: Any) -> Iterator[bool]:
    if value is UNKNOWN:
        yield True
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _unknowns(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _unknowns(inner)


def _known(value: Any) -> Any:
    """Return a value without the parts of it that are unknown."""
    if isinstance(value, dict):
        return {key: _known(inner) for key, inner in value.items() if inner is not UNKNOWN}
    if isinstance(value, list):
        return [_known(inner) for inner in value if inner is not UNKNOWN]
    return value
