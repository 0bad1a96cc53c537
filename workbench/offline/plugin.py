"""Serves a ``Provider`` as the gRPC service that the engine expects of a plug-in."""

import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    plugin_pb2,
    provider_pb2,
    provider_pb2_grpc,
    status_pb2,
)
from pulumi.runtime.proto.provider_pb2 import PropertyDiff
from typing_extensions import override

from workbench.offline.journal import JOURNAL
from workbench.offline.parent_watch import end_with
from workbench.offline.properties import DEFAULTS, defaults, marked, masked, plain, renewed
from workbench.offline.provider import CloudError, Existing, PartlyMadeError, Provider, RefusedError

CALLS_AT_ONCE: Final = 64
"""Threads that serve the engine. A call that waits for a cloud holds one, and the engine makes many at a time."""


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """Translates between the engine's protocol and a ``Provider``."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._engine: engine_pb2_grpc.EngineStub | None = None

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
        if request.engine_address:
            # The engine is on loopback; a proxy of the environment is for the cloud.
            channel = grpc.insecure_channel(request.engine_address, [("grpc.enable_http_proxy", 0)])
            self._engine = engine_pb2_grpc.EngineStub(channel)
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
        type_, name = _type_and_name(request.urn)
        old, new = plain(request.old_inputs), plain(request.news)
        given, filled = (request.old_inputs, request.news), defaults(request.news)
        changed = self._try(context, self._provider.compare, type_, old, new, given=given, filled=filled)
        if self._engine:
            for text in (f"{name}: {warning}" for warning in changed.warnings):
                self._engine.Log(engine_pb2.LogRequest(severity=engine_pb2.WARNING, message=text, urn=request.urn))
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
            # The engine treats missing values, including the id, as unknown.
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

    def _try(
        self,
        context: grpc.ServicerContext,
        action: Any,
        *arguments: Any,
        given: tuple[Struct, ...] = (),
        **options: Any,
    ) -> Any:
        """Run an action; keep secrets in ``given`` out of all error messages."""
        try:
            return action(*arguments, **options)
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
    parent = os.getppid()  # read first: the engine may be gone before the port is printed
    server = grpc.server(
        ThreadPoolExecutor(CALLS_AT_ONCE),
        options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    # A shell that runs the engine in the background makes its child processes ignore this signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # how the engine ends a plug-in
        # The engine reads the port from the first line, and waits for it.
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        end_with(parent)  # the engine ends its plug-ins, but not if it is killed
        server.wait_for_termination()
    os._exit(0)  # do not wait for running calls


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
