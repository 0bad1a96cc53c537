"""What a emulator's server is started with."""

import argparse
from pathlib import Path
from typing import Any

import yaml

from emulators.core.credentials import embedded
from emulators.core.service_context import ControlPlane


def arguments(module: str, cloud: str) -> argparse.Namespace:
    """Return ``port``, ``scale`` and, if one is named, the control plane as ``kubeconfig``; end if they are wrong."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=f"{cloud} on loopback.")
    parser.add_argument("--port", type=int, default=0, help="where to listen; default a free port")
    parser.add_argument(
        "--scale", type=_scale, default=0.0, help=f"real seconds for a second of {cloud}; default 0, at once"
    )
    parser.add_argument("--kubeconfig", type=_control_plane, help="of the API server that every cluster leads to")
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
