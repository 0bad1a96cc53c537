"""Serves Azure on loopback until the process that started it is gone: ``python -m workbench.clouds.azure.double``.

With ``plugin`` as first argument it serves the provider to the engine instead, which talks to such a server.
"""

import os
import sys

from workbench.clouds.azure.double.server.application import Application
from workbench.clouds.azure.double.server.clock import SECONDS
from workbench.clouds.azure.double.server.control import Control
from workbench.clouds.azure.double.server.resources import Resources
from workbench.clouds.double.clock import Clock
from workbench.clouds.double.command_line import arguments
from workbench.clouds.double.listening import LOOPBACK, Listener
from workbench.clouds.double.surroundings import Surroundings
from workbench.clouds.parent import end_with


def main() -> None:
    """Read the command line, print the server's address as the first line, and serve."""
    given = arguments("workbench.clouds.azure.double", "Azure")
    parent = os.getppid()  # asked first: the parent may be gone before the address is out
    clock = Clock(given.scale, SECONDS)
    application = Application(Resources(Surroundings(clock, given.kubeconfig)), clock)
    listener = Listener(Control(application), given.port)
    print(f"http://{LOOPBACK}:{listener.port}", flush=True)
    end_with(parent)
    listener.serve_until_told()


def serve_plugin() -> None:
    """Serve the provider plug-in; the engine adds arguments of its own."""
    from workbench.clouds.azure.double.provider import AzureDouble  # noqa: PLC0415 the server needs no engine
    from workbench.clouds.plugin import serve  # noqa: PLC0415

    serve(AzureDouble())


if __name__ == "__main__":
    if sys.argv[1:2] == ["plugin"]:
        serve_plugin()
    else:
        main()
