"""JU-03: the home directory of a Jupyter service survives a restart."""

import re
from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.values import Value, some
from policies.views.jupyter import JUPYTER_PODS, jupyter_containers
from policies.views.pods import PodFacts

_HOME = re.compile(r"/(User|home/jovyan)(/.*)?")
"""Home directories of Iguazio's image and of Jupyter's own images."""
_KEPT = ("persistentVolumeClaim", "csi", "flexVolume", "nfs", "azureFile", "awsElasticBlockStore", "azureDisk")
"""Volume sources that outlive the pod; V3IO uses ``flexVolume`` or ``csi``."""


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require persistent storage at or below the home directory of each Jupyter container."""
    for container in jupyter_containers(pod):
        mounts = container.at("volumeMounts").elements()
        if not some(mounts, lambda mount: _is_home(mount) and _is_kept(pod, mount.at("name").text() or "")):
            yield Finding(f"{pod} has no persistent home directory; expected a claim or V3IO at /User or /home/jovyan.")


def _is_home(mount: Value) -> bool:
    return _HOME.fullmatch(mount.at("mountPath").text() or "") is not None


def _is_kept(pod: PodFacts, name: str) -> bool:
    volumes = [volume for volume in pod.spec.at("volumes").elements() if volume.at("name").text() == name]
    if not volumes:
        # A StatefulSet creates a claim for each mount that has no volume.
        return pod.kind == "StatefulSet"
    return any(not volume.at(source).is_absent for volume in volumes for source in _KEPT)


RULE = Rule(
    id="JU-03",
    slug="jupyter-home-is-kept",
    title="A Jupyter service must have its home directory on persistent storage",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Jupyter Image and Installing Packages",
    applies_to=JUPYTER_PODS,
    why="Notebooks and environments inside the container are lost when the service restarts.",
    fix="Mount a PersistentVolumeClaim, or V3IO, at the user's home directory.",
    check=check,
)
