"""Each key that is printed for a system is one that its chart has, by the sources recorded beside this file."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from components.contract.labels import TRUE, LabelKey
from components.contract.priorities import SystemPriority
from components.contract.systems.registry import SYSTEMS, System
from components.contract.systems.system_values import SystemChoices
from components.contract.taints import OWN_SPOT_TAINT, Taint
from support.platform_cluster import platform_cluster, reached
from support.recorded_keys import sections, unknown

MARK = {LabelKey.CORE_SERVICE.value: TRUE}
EVERYTHING = {
    "registry": "registry.example.com/mlrun",
    "registry_secret": "pull",
    "storage_class": "ssd",
    "ingress_class": "nginx",
}


@pytest.mark.parametrize(("system", "places", "taint"), list(product(SYSTEMS, (True, False), (OWN_SPOT_TAINT, None))))
def test_every_key_is_one_of_the_chart(system: System, places: bool, taint: Taint | None) -> None:
    derivation = SYSTEMS[system]
    options = {name: value for name, value in EVERYTHING.items() if name in derivation.options}
    for chart in derivation.charts or ("",):
        choices = SystemChoices(namespace="mlrun", chart=chart, **options)
        cluster = reached(platform_cluster(places=places, spot_taint=taint), system)
        content = derivation.values(cluster, choices).content
        assert unknown(content, system, chart) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_class_comes_with_the_mark_of_core_services(system: System) -> None:
    """Before Kubernetes 1.36 PR-05 refuses pods that have the class alone, and some charts take no labels for pods."""

    def below(value: Any, path: str = "", *, marked: bool = False) -> Iterator[str]:
        marked = marked or (isinstance(value, dict) and MARK in value.values())
        for key, each in value.items() if isinstance(value, dict) else ():
            if key == "priorityClassName" and each in list(SystemPriority) and not marked:
                yield path
            yield from below(each, f"{path}.{key}", marked=marked)

    for chart in SYSTEMS[system].charts or ("",):
        choices = SystemChoices(namespace="mlrun", chart=chart)
        content = SYSTEMS[system].values(reached(platform_cluster(places=False), system), choices).content
        assert list(below(content)) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_recorded_key_has_a_source(system: System) -> None:
    for source in (each for sources in sections(system).values() for each in sources):
        assert {"repository", "path", "keys"} <= source.keys()
        assert "assumed" in source or "commit" in source, source
