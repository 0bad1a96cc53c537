"""Serves AWS on loopback until the process that started it is gone: ``python -m emulators.aws``.

With ``plugin`` as first argument it serves the provider to the engine instead, which talks to such a server.
"""

import os
import sys

from emulators.core.command_line import arguments
from workbench.offline.parent_watch import end_with


def main() -> None:
    """Read the command line, print the server's address as the first line, and serve."""
    given = arguments("emulators.aws", "AWS")
    # Only the server needs moto, and moto takes a second to load.
    from emulators.aws.server.application import Application  # noqa: PLC0415
    from emulators.aws.server.clock import SECONDS  # noqa: PLC0415
    from emulators.aws.server.control import Control, Handler  # noqa: PLC0415
    from emulators.aws.server.eks import Eks  # noqa: PLC0415
    from emulators.core.clock import Clock  # noqa: PLC0415
    from emulators.core.listening import LOOPBACK, Listener  # noqa: PLC0415
    from emulators.core.service_context import ServiceContext  # noqa: PLC0415

    parent = os.getppid()  # asked first: the parent may be gone before the address is out
    clock = Clock(given.scale, SECONDS)
    eks = Eks(ServiceContext(clock, given.kubeconfig))
    listener = Listener(Control(Application(eks, clock)), given.port, Handler)
    print(f"http://{LOOPBACK}:{listener.port}", flush=True)
    end_with(parent)
    listener.serve_until_told()


def serve_plugin() -> None:
    """Serve the provider plug-in; the engine adds arguments of its own."""
    from emulators.aws.provider import AwsEmulator  # noqa: PLC0415 boto3 is for the plug-in alone
    from workbench.offline.plugin import serve  # noqa: PLC0415

    serve(AwsEmulator())


if __name__ == "__main__":
    if sys.argv[1:2] == ["plugin"]:
        serve_plugin()
    else:
        main()
