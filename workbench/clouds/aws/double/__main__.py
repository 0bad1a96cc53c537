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
    from workbench.clouds.aws.double.server.application import Application  # noqa: PLC0415
    from workbench.clouds.aws.double.server.clock import Clock  # noqa: PLC0415
    from workbench.clouds.aws.double.server.eks import Eks  # noqa: PLC0415
    from workbench.clouds.aws.double.server.listening import LOOPBACK, Listener  # noqa: PLC0415
    from workbench.clouds.aws.double.server.service import Surroundings  # noqa: PLC0415

    parent = os.getppid()  # asked first: the parent may be gone before the address is out
    surroundings = Surroundings(Clock(arguments.scale), arguments.kubeconfig)
    listener = Listener(Application(Eks(surroundings), surroundings), arguments.port)
    print(f"http://{LOOPBACK}:{listener.port}", flush=True)
    end_with(parent)
    listener.serve_until_told()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workbench.clouds.aws.double", description="AWS on loopback.")
    parser.add_argument("--port", type=int, default=0, help="where to listen; default a free port")
    parser.add_argument(
        "--scale", type=_scale, default=0.0, help="real seconds for a second of AWS; default 0, at once"
    )
    parser.add_argument("--kubeconfig", type=_control_plane, help="of the API server that every EKS cluster leads to")
    return parser.parse_args()


def _scale(given: str) -> float:
    scale = float(given)
    if not 0 <= scale < float("inf"):
        raise argparse.ArgumentTypeError(f"must be 0 or more, given {given}")
    return scale


def _control_plane(kubeconfig: str) -> ControlPlane:
    """Return the API server of the first cluster that a kubeconfig names."""
    try:
        cluster: dict[str, Any] = yaml.safe_load(Path(kubeconfig).read_text())["clusters"][0]["cluster"]
        return ControlPlane(cluster["server"], embedded(cluster, "certificate-authority"))
    except (OSError, yaml.YAMLError, LookupError, TypeError) as error:
        wanted = "must be a kubeconfig with a cluster's server and certificate-authority"
        raise argparse.ArgumentTypeError(f"{wanted}, given {kubeconfig}: {error}") from None


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
