"""Settings as Nuclio has them: its platform configuration."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from components.contract.environments import PlatformProfile
from components.contract.systems.registry import System
from policies.views.nuclio import FILE, NAME
from workbench.engine.declared_fields import differing, shown
from workbench.engine.live_objects import LiveObject
from workbench.verification.contract import Contract
from workbench.verification.deviation import Deviation, Outcome, Place
from workbench.verification.snapshot import Snapshot

_SPOT: Final = "preemptibleNodes"


def settings(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that Nuclio has the contract's selector, classes, resources and spot nodes, the same as MLRun."""
    maps = [
        each
        for namespace in contract.config.namespaces
        for each in snapshot.of("ConfigMap", namespace)
        if NAME.fullmatch(each.name) and FILE in (each.content.get("data") or {})
    ]
    if not maps:
        return Outcome("", absent="Nuclio is not installed")
    deviations = (each for config_map in maps for each in _of(contract, config_map))
    return Outcome(", ".join(f"ConfigMap {each.namespace}/{each.name}" for each in maps), tuple(deviations))


def _of(contract: Contract, config_map: LiveObject) -> Iterator[Deviation]:
    def place(path: str) -> Place:
        return Place("ConfigMap", config_map.name, config_map.namespace, f"{FILE}, {path}")

    system = System.MLRUN_CE if contract.config.profile is PlatformProfile.MLRUN_CE else System.NUCLIO
    values = f"igz-clusters values --stack {contract.stack} --for {system} --namespace {config_map.namespace}"
    action = f"Print the values again and upgrade the chart with them: `{values}`."
    try:
        content = yaml.safe_load(config_map.content["data"][FILE])
    except yaml.YAMLError:
        yield Deviation(place("kube"), "is not valid YAML", "our settings", action)
        return
    kube = content.get("kube") if isinstance(content, Mapping) else None
    wanted, live = _flat(contract.nuclio(config_map.namespace)), _flat(kube if isinstance(kube, Mapping) else {})
    for path, value in wanted.items():
        found = live.get(path)
        if list(differing(value, found)) or list(differing(found, value)):
            yield Deviation(place(f"kube.{path}"), f"is {shown(found)}", shown(value), action)
    for path in (f"{_SPOT}.{key}" for key in ("nodeSelector", "tolerations", "gpuTolerations")):
        if path not in wanted and path in live:
            why = ": even an empty list turns the mode prevent off" if path.endswith(".tolerations") else ""
            yield Deviation(place(f"kube.{path}"), f"is {shown(live[path])}{why}", "no such key", action)


def _flat(kube: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings by path, those about spot nodes one by one."""
    spot = kube.get(_SPOT)
    parts = spot if isinstance(spot, Mapping) else {}
    return {
        **{key: value for key, value in kube.items() if key != _SPOT},
        **{f"{_SPOT}.{key}": value for key, value in parts.items()},
    }
