"""Serves Azure on loopback until the process that started it is gone: ``python -m emulators.azure``.

With ``plugin`` as first argument it serves the provider to the engine instead, which talks to such a server.
"""

import os
import sys

from emulators.azure.server.application import Application
from emulators.azure.server.clock import SECONDS
from emulators.azure.server.control import Control
from emulators.azure.server.resources import Resources
from emulators.core.clock import Clock
from emulators.core.command_line import arguments
from emulators.core.listening import LOOPBACK, Listener
from emulators.core.service_context import ServiceContext
from workbench.offline.parent_watch import end_with


def main() -> None:
    """Read the command line, print the server's address as the first line, and serve."""
    given = arguments("emulators.azure", "Azure")
    parent = os.getppid()  # asked first: the parent may be gone before the address is out
    clock = Clock(given.scale, SECONDS)
    application = Application(Resources(ServiceContext(clock, given.kubeconfig)), clock)
    listener = Listener(Control(application), given.port)
    print(f"http://{LOOPBACK}:{listener.port}", flush=True)
    end_with(parent)
    listener.serve_until_told()


def serve_plugin() -> None:
    """Serve the provider plug-in; the engine adds arguments of its own."""
    from emulators.azure.provider import AzureEmulator  # noqa: PLC0415 the server needs no engine
    from workbench.offline.plugin import serve  # noqa: PLC0415

    serve(AzureEmulator())


if __name__ == "__main__":
    if sys.argv[1:2] == ["plugin"]:
        serve_plugin()
    else:
        main()
