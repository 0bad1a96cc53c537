"""Programs that listen to the engine's events, such as Pulumi's Automation API."""

from pathlib import Path
from typing import Final

from workbench.system.errors import UserError

_SERVER: Final = "tcp://"
_PATIENCE: Final = 30.0
"""Seconds until a listener must have taken all events."""


def send(events: bytes, listener: str) -> None:
    """Send an event stream to whatever started the run.

    Parameters
    ----------
    events
        The stream, one event a line.
    listener
        Value of the engine's ``--event-log``: the file, or the address of a server,
        ``pulumirpc.Events`` in https://github.com/pulumi/pulumi/blob/v3.272.0/proto/pulumi/events.proto.

    Raises
    ------
    UserError
        The listener does not take them.
    """
    if not listener.startswith(_SERVER):
        with Path(listener).open("ab") as file:
            file.write(events)
        return
    # Imported here: gRPC starts threads, and only programs that call `pulumi` have a listener.
    import grpc  # noqa: PLC0415
    from pulumi.runtime.proto.events_pb2 import EventRequest  # noqa: PLC0415
    from pulumi.runtime.proto.events_pb2_grpc import EventsStub  # noqa: PLC0415

    requests = (EventRequest(event=line.decode(errors="replace")) for line in events.splitlines())
    # It is on this machine, where no proxy leads to.
    direct = [("grpc.enable_http_proxy", 0)]
    with grpc.insecure_channel(listener.removeprefix(_SERVER), options=direct) as channel:
        try:
            EventsStub(channel).StreamEvents(requests, timeout=_PATIENCE)
        except grpc.RpcError as error:
            raise UserError(f"--event-log: {listener} took no events: {error.code().name}.") from None
