"""Serves AWS on loopback until the process that started it is gone: ``python -m workbench.clouds.aws.double``.

With ``plugin`` as first argument it serves the provider to the engine instead, which talks to such a server.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import yaml

from workbench.clouds.aws.double.credentials import embedded
from workbench.clouds.aws.double.server.service import ControlPlane
from workbench.clouds.parent import end_with


def main() -> None:
    """Read the command line, print the server's address as the first line, and serve."""
    arguments = _arguments()
    # Only the server needs moto, and moto takes a second to load.
    from workbench.clouds.aws.double.server import listening  # noqa: PLC0415
    from workbench.clouds.aws.double.server.application import Application  # noqa: PLC0415
    from workbench.clouds.aws.double.server.clock import Clock  # noqa: PLC0415
    from workbench.clouds.aws.double.server.eks import Eks  # noqa: PLC0415
    from workbench.clouds.aws.double.server.service import Surroundings  # noqa: PLC0415

    parent = os.getppid()  # asked first: the parent may be gone before the address is out
    surroundings = Surroundings(Clock(arguments.scale), _control_plane(arguments.kubeconfig))
    application = Application(Eks(surroundings), surroundings)
    server = listening.listen(application, arguments.port)
    print(f"http://{listening.LOOPBACK}:{server.port}", flush=True)
    end_with(parent)
    listening.serve(application, server)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workbench.clouds.aws.double", description="AWS on loopback.")
    parser.add_argument("--port", type=int, default=0, help="where to listen; default a free port")
    parser.add_argument("--scale", type=float, default=0.0, help="real seconds for a second of AWS; default 0, at once")
    parser.add_argument("--kubeconfig", type=Path, help="of the API server that every EKS cluster leads to")
    return parser.parse_args()


def _control_plane(kubeconfig: Path | None) -> ControlPlane | None:
    """Return the API server of a kubeconfig's only cluster."""
    if kubeconfig is None:
        return None
    found: dict[str, Any] = yaml.safe_load(kubeconfig.read_text())
    cluster = found["clusters"][0]["cluster"]
    return ControlPlane(cluster["server"], embedded(cluster, "certificate-authority"))


def serve_plugin() -> None:
    """Serve the provider plug-in; the engine adds arguments of its own."""
    from workbench.clouds.aws.double.provider import AwsDouble  # noqa: PLC0415 boto3 is for the plug-in alone
    from workbench.clouds.plugin import serve  # noqa: PLC0415

    serve(AwsDouble())


if __name__ == "__main__":
    if sys.argv[1:2] == ["plugin"]:
        serve_plugin()
    else:
        main()
