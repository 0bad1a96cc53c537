"""Reviewed values of each system: ``tests/components/contract/systems/golden/SYSTEM-CLUSTER.yaml``.

``python -m support.golden_values`` (in ``tests``) writes them again; read the difference before you commit it.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Final

from components.contract.environments import Environment
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.registry import SYSTEMS, Derivation, System
from components.contract.systems.system_values import SystemChoices
from components.contract.systems.yaml_text import yaml_text
from support.platform_cluster import platform_cluster, reached
from support.recorded_keys import FOLDER

GOLDEN: Final = FOLDER / "golden"

CLUSTERS: Final[Mapping[str, PlatformCluster]] = {
    "dev": platform_cluster(),
    "dev-before-1.36": platform_cluster(places=False),
    "prod-untainted": platform_cluster("notebooks", environment=Environment.PROD, spot_taint=None),
}
"""All pools; those of an older cluster; production without notebooks and without a taint on spot nodes."""

MLRUN: Final = "mlrun"
REACHED: Final = (System.MLRUN_CE, System.INGRESS, System.AWS_LOAD_BALANCER_CONTROLLER, System.EXTERNAL_DNS)
"""Systems whose values depend on how clients outside reach the cluster."""

OTHERS: Final = {System.PIPELINES: ("kubeflow",)}
"""Namespaces, besides ``MLRUN``, in which a system gets other values."""


def golden() -> Iterator[tuple[Path, str]]:
    """Yield the file and the text for each system, cluster and namespace; what needs ways in, for one cluster alone."""
    for (system, derivation), (name, cluster) in product(SYSTEMS.items(), CLUSTERS.items()):
        if derivation.lack(cluster):
            continue
        yield GOLDEN / f"{system}-{name}.yaml", _text(derivation, cluster, MLRUN)
        for namespace in OTHERS.get(system, ()):
            yield GOLDEN / f"{system}-{namespace}-{name}.yaml", _text(derivation, cluster, namespace)
    for system in REACHED:
        derivation, cluster = SYSTEMS[system], reached(CLUSTERS["dev"], system)
        yield GOLDEN / f"{system}-dev-reached.yaml", _text(derivation, cluster, derivation.namespace or MLRUN)


def _text(derivation: Derivation, cluster: PlatformCluster, namespace: str) -> str:
    result = derivation.values(cluster, SystemChoices(namespace=namespace))
    notes = "".join(f"# {each}\n" for each in (*result.notes, f"next: {result.next}"))
    return notes + yaml_text(result.content)


def main() -> None:
    """Write all files again."""
    GOLDEN.mkdir(exist_ok=True)
    for path, text in golden():
        path.write_text(text)


if __name__ == "__main__":
    main()
