"""A provider plug-in of the engine in Python.

``serve`` runs a ``Provider`` as the gRPC service that the engine expects. A provider that does not say more only
plans: it checks and compares inputs, and refuses to read or change anything. One that really makes things overrides
``create``, ``read``, ``update`` and ``delete``.
"""

import json
import os
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2
from pulumi.runtime.proto.provider_pb2 import PropertyDiff
from typing_extensions import override

from workbench.offline.journal import JOURNAL
from workbench.offline.parent_watch import end_with
from workbench.offline.properties import DEFAULTS, defaults, marked, masked, plain, renewed

CALLS_AT_ONCE: Final = 64
"""Threads that serve the engine. A call that waits for a cloud holds one, and the engine makes many at a time."""

Kind: TypeAlias = PropertyDiff.Kind.ValueType
"""Kind of change to one input: added, updated or deleted, in place or by replacing the resource."""

FORCED: Final[dict[Kind, Kind]] = {
    PropertyDiff.ADD: PropertyDiff.ADD_REPLACE,
    PropertyDiff.DELETE: PropertyDiff.DELETE_REPLACE,
    PropertyDiff.UPDATE: PropertyDiff.UPDATE_REPLACE,
}
"""What each kind is of an input that replaces the resource."""


@dataclass(frozen=True)
class Problem:
    """One input that is wrong."""

    path: str
    reason: str


@dataclass(frozen=True)
class Checked:
    """What a check of one resource's inputs came to.

    Parameters
    ----------
    problems
        What is wrong; nothing is planned if there is any.
    filled
        Inputs that the provider adds because the program left them out.
    added
        Inputs that the provider adds at every check anew; no program gives them.
    note
        Figures for the journal.
    """

    problems: tuple[Problem, ...] = ()
    filled: dict[str, Any] = field(default_factory=dict)
    added: dict[str, Any] = field(default_factory=dict)
    note: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Changed:
    """What the new inputs of a resource mean for it.

    Parameters
    ----------
    kinds
        Kind of change by path of the input.
    delete_first
        The old resource must go before the new one is made; said only of a replacement.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    delete_first: bool = False

    @property
    def replaces(self) -> list[str]:
        """Paths that make a replacement necessary."""
        return [path for path, kind in self.kinds.items() if kind in FORCED.values()]


@dataclass(frozen=True)
class Existing:
    """A resource as the state has it.

    Parameters
    ----------
    type_, name
        Type token and logical name.
    id
        As the provider gave it. Of an import it is all that is known.
    inputs, outputs
        Of the last deployment, or as the last refresh found them.
    """

    type_: str
    name: str
    id: str
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadResult:
    """A resource as it is.

    Parameters
    ----------
    inputs
        What the program would have to say to make it as it is.
    outputs
        All of them, those that repeat inputs too.
    id
        If an import asked by another name. Default: as asked.
    """

    inputs: dict[str, Any]
    outputs: dict[str, Any]
    id: str = ""


class RefusedError(Exception):
    """The plug-in does not do this; the text says what to do instead."""


class CloudError(Exception):
    """The cloud refused or did not answer; the text is what the real plug-in says."""


class PartlyMadeError(Exception):
    """A resource exists, but is not what was asked for: the state keeps it with the reasons.

    Parameters
    ----------
    id
        Of the resource.
    outputs
        What is known of it.
    reasons
        What went wrong, one text each; at least one.
    """

    def __init__(self, id: str, outputs: dict[str, Any], reasons: tuple[str, ...]) -> None:  # noqa: A002 the engine's word
        super().__init__("; ".join(reasons))
        self.id, self.outputs, self.reasons = id, outputs, reasons


@dataclass(frozen=True)
class Provider:
    """What one package's plug-in does.

    Parameters
    ----------
    name
        The package, such as ``aws``.
    version
        Release of the real plug-in that this one stands in for.
    description
        What it is, in a sentence; for people who ask the plug-in itself.
    place
        Configuration that says where everything is; a change replaces everything.
    """

    name: str
    version: str
    description: str
    place: frozenset[str] = frozenset()

    def configure(self, config: dict[str, Any]) -> None:
        """Take the provider's own configuration; unknown values as ``UNKNOWN``."""

    def moved(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
        """Return the keys of the provider's own configuration whose change replaces everything."""
        return sorted(key for key in self.place if old.get(key) != new.get(key))

    def check(self, type_: str, name: str, inputs: dict[str, Any], *, seed: bytes, kept: dict[str, Any]) -> Checked:
        """Judge a resource's inputs.

        Parameters
        ----------
        type_, name
            Type token and logical name.
        inputs
            As the program gave them, unknown values as ``UNKNOWN``.
        seed
            Randomness that stays the same for the same resource in the same run.
        kept
            What earlier checks filled in, by input, if the resource exists.
        """
        raise NotImplementedError

    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        """Say what a change of inputs means.

        Parameters
        ----------
        old, new
            Inputs of the last deployment and of this one.
        filled
            Inputs that the check filled in, not the program.
        """
        raise NotImplementedError

    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 for those who make
        """Make a resource and return its id and its outputs, those that repeat inputs too.

        Raises
        ------
        CloudError
            Nothing was made, as far as the cloud said.
        PartlyMadeError
            It exists and is not whole.
        """
        self._refuse(f"create {name} ({type_})")

    def read(self, resource: Existing) -> ReadResult | None:
        """Look a resource up, for a refresh or an import; None if it does not exist."""
        self._refuse(f"read {resource.name} ({resource.type_})")

    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 for those who change
        """Give a resource new inputs in place and return its outputs, those that repeat inputs too.

        Raises
        ------
        CloudError
            It is as it was.
        PartlyMadeError
            Some of the change may have happened.
        """
        self._refuse(f"update {resource.name} ({resource.type_})")

    def delete(self, resource: Existing) -> None:
        """Delete a resource. One that is gone already is deleted."""
        self._refuse(f"delete {resource.name} ({resource.type_})")

    def foreseen(self, type_: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 for providers that know more
        """Return the outputs that a resource will have, as far as a preview can know; what is left out is not known.

        Default: the old ones with the inputs over them, or everything that depends on them would look changed.

        Parameters
        ----------
        inputs
            As they are planned.
        outputs
            As they are now; empty of a resource that does not exist.
        """
        return {**outputs, **inputs}

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 for those who answer
        """Answer a call of a function, also known as a data source."""
        self._refuse(f"call {token}")

    def _refuse(self, what: str) -> NoReturn:
        raise RefusedError(
            f"the offline provider '{self.name}' only plans, it cannot {what}: "
            "use the real plug-in with credentials, and no data source in the program"
        )


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """Translates between the engine's protocol and a ``Provider``."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    @override
    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=self._provider.version)

    @override
    def GetSchema(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.GetSchemaResponse:
        described = self._provider
        schema = {"name": described.name, "version": described.version, "description": described.description}
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema))

    @override
    def Handshake(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.ProviderHandshakeResponse:
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    @override
    def CheckConfig(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        return provider_pb2.CheckResponse(inputs=request.news)

    @override
    def DiffConfig(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        old, new = plain(request.old_inputs), plain(request.news)
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=changed,
            replaces=self._provider.moved(old, new),
        )

    @override
    def Configure(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.ConfigureResponse:
        self._try(context, self._provider.configure, plain(request.args))
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    @override
    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Empty:
        return Empty()

    @override
    def Check(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        type_, name = _type_and_name(request.urn)
        old = plain(request.olds)
        kept = {key: old[key] for key in defaults(request.olds) if key in old}
        checked = self._provider.check(type_, name, plain(request.news), seed=request.randomSeed, kept=kept)
        _journal(self._provider, "check", type_, **checked.note)
        response = provider_pb2.CheckResponse(inputs=request.news)
        response.inputs.update(marked(checked.added))
        if checked.filled:
            response.inputs.update({**marked(checked.filled), DEFAULTS: sorted(checked.filled)})
        response.failures.extend(
            provider_pb2.CheckFailure(property=problem.path, reason=problem.reason) for problem in checked.problems
        )
        return response

    @override
    def Diff(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        type_, _ = _type_and_name(request.urn)
        old, new = plain(request.old_inputs), plain(request.news)
        changed = self._provider.compare(type_, old, new, filled=defaults(request.news))
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if changed.kinds else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=sorted({path.partition(".")[0].partition("[")[0] for path in changed.kinds}),
            replaces=changed.replaces,
            deleteBeforeReplace=changed.delete_first and bool(changed.replaces),
            hasDetailedDiff=True,
            detailedDiff={path: PropertyDiff(kind=kind, inputDiff=True) for path, kind in changed.kinds.items()},
        )

    @override
    def Create(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        type_, name = _type_and_name(request.urn)
        given = request.properties
        if request.preview:
            # What is left out, the id too, the engine takes for unknown.
            foreseen = self._provider.foreseen(type_, plain(given), {})
            return provider_pb2.CreateResponse(properties=renewed(given, foreseen))
        identifier, outputs = self._try(context, self._provider.create, type_, name, plain(given), given=(given,))
        return provider_pb2.CreateResponse(id=identifier, properties=renewed(given, outputs))

    @override
    def Read(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        resource = _existing(request, request.inputs, request.properties)
        found = self._try(context, self._provider.read, resource, given=(request.inputs, request.properties))
        if found is None:
            return provider_pb2.ReadResponse()  # no id: it does not exist
        return provider_pb2.ReadResponse(
            id=found.id or request.id,
            inputs=renewed(request.inputs, found.inputs),
            properties=renewed(request.properties, found.outputs, request.inputs),
        )

    @override
    def Update(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        merged = Struct()
        merged.CopyFrom(request.olds)
        merged.MergeFrom(request.news)
        resource = _existing(request, request.old_inputs, request.olds)
        if request.preview:
            foreseen = self._provider.foreseen(resource.type_, plain(request.news), resource.outputs)
            return provider_pb2.UpdateResponse(properties=renewed(merged, foreseen))
        outputs = self._try(context, self._provider.update, resource, plain(request.news), given=(merged,))
        return provider_pb2.UpdateResponse(properties=renewed(merged, outputs))

    @override
    def Delete(self, request: Any, context: grpc.ServicerContext) -> Empty:
        given = (request.old_inputs, request.properties)
        self._try(context, self._provider.delete, _existing(request, *given), given=given)
        return Empty()

    @override
    def Invoke(self, request: Any, context: grpc.ServicerContext) -> provider_pb2.InvokeResponse:
        response = provider_pb2.InvokeResponse()
        answer = self._try(context, self._provider.invoke, request.tok, plain(request.args), given=(request.args,))
        getattr(response, "return").update(marked(answer))
        return response

    def _try(self, context: grpc.ServicerContext, action: Any, *arguments: Any, given: tuple[Struct, ...] = ()) -> Any:
        """Do something; what are secrets in ``given`` stays secret in every answer."""
        try:
            return action(*arguments)
        except RefusedError as refused:
            _journal(self._provider, "refused", action.__name__, what=_subject(arguments[0]))
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, masked(str(refused), *given))
        except CloudError as failure:
            context.abort(grpc.StatusCode.UNKNOWN, masked(str(failure), *given))
        except PartlyMadeError as partly:
            reasons = [masked(reason, *given) for reason in partly.reasons]
            detail = provider_pb2.ErrorResourceInitFailed(
                id=partly.id, properties=renewed(given[0], partly.outputs, *given), reasons=reasons
            )
            # Source: pulumi/pulumi, sdk/go/common/util/rpcutil/rpcerror; gRPC's own header for such details.
            status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=reasons[0])
            status.details.add().Pack(detail)
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            context.abort(grpc.StatusCode.UNKNOWN, reasons[0])


def serve(provider: Provider) -> None:
    """Serve ``provider`` on loopback until the engine that started this process is gone."""
    parent = os.getppid()  # asked first: the engine may be gone before the port is out
    server = grpc.server(
        ThreadPoolExecutor(CALLS_AT_ONCE),
        options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    # A shell that runs the engine in the background lets all that it starts ignore this signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # the engine's way to say that it needs us no more
        # The engine reads the port from the first line, and waits for it.
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        end_with(parent)  # the engine ends its plug-ins, but not if it is killed
        server.wait_for_termination()
    os._exit(0)  # nobody waits for what may still run


def _type_and_name(urn: str) -> tuple[str, str]:
    """Return type token and logical name from ``urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME``."""
    _, _, types, name = urn.split("::", 3)
    return types.rpartition("$")[2], name


def _existing(request: Any, inputs: Struct, outputs: Struct) -> Existing:
    type_, name = _type_and_name(request.urn)
    return Existing(type_, name, request.id, plain(inputs), plain(outputs))


def _subject(argument: Any) -> str:
    return argument.type_ if isinstance(argument, Existing) else str(argument)


def _journal(provider: Provider, event: str, subject: str, **details: Any) -> None:
    if path := os.environ.get(JOURNAL):
        line = json.dumps({"provider": provider.name, "event": event, "subject": subject, **details})
        # One write in append mode: lines of several plug-ins never mix.
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
