"""Settings as the running API of MLRun has them: its pods' environment, not the ConfigMap alone."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final

from components.contract.mlrun import (
    OVERRIDE_CONFIG_MAP,
    STATE_THRESHOLD_PREFIX,
    MlrunVariable,
    default_resource_variable,
    threshold_variable,
)
from components.contract.mlrun_choices import STATE_THRESHOLDS
from components.contract.quantities import parse_quantity
from policies.views.mlrun import API
from workbench.engine.declared_fields import shown, spelled
from workbench.engine.live_objects import LiveObject
from workbench.verification.contract import Contract
from workbench.verification.deviation import Deviation, Outcome, Place
from workbench.verification.snapshot import Snapshot

_SPOT: Final = (MlrunVariable.SPOT_SELECTOR.value, MlrunVariable.SPOT_TOLERATIONS.value)
"""Variables that must not be set where no node fits."""

_ENCODED: Final = (MlrunVariable.DEFAULT_SELECTOR, MlrunVariable.AUTO_MOUNT_PARAMETERS, *_SPOT)
_SIDES: Final = ("requests", "limits")
_QUANTITIES: Final = tuple(default_resource_variable(side, name) for side in _SIDES for name in ("cpu", "memory"))
_GPUS: Final = tuple(default_resource_variable(side, "gpu") for side in _SIDES)
"""Variables of MLRun that the contract does not set, although they resemble some that it sets."""

_ALIKE: Final = 0.96
"""Similarity from which a name counts as a misspelt one: one letter of PREEMPTION_MODE, or two swapped."""

_ABSENT: Final = "MLRun is not installed, or its API is scaled to zero"
_UNREAD: Final = f"no running pod of MLRun's API reads {OVERRIDE_CONFIG_MAP}"
_DOWN: Final = ("Pending", "Failed", "Unknown")
_RESTART: Final = "`kubectl rollout restart deployment -n {} {}`."


@dataclass(frozen=True)
class ApiContainer:
    """A running container of MLRun's API.

    Parameters
    ----------
    pod
        Its pod.
    spec
        Its entry in the pod.
    namespace
        Namespace of the pod.
    """

    pod: LiveObject
    spec: Mapping[str, Any]
    namespace: str

    def place(self, path: str = "") -> Place:
        """Return the place of a field of the pod."""
        return Place("Pod", self.pod.name, self.namespace, path)

    @property
    def reads_override(self) -> bool:
        """Whether it takes its environment from our ConfigMap."""
        return any(_source(each) == OVERRIDE_CONFIG_MAP for each in self.spec.get("envFrom") or ())

    @property
    def started(self) -> datetime | None:
        """When it started, and read its environment; None if it does not run."""
        statuses = self.pod.content.get("status", {}).get("containerStatuses") or ()
        own = [each for each in statuses if each["name"] == self.spec["name"]]
        running = [each.get("state", {}).get("running") or {} for each in own]
        return _time(running[0].get("startedAt")) if running else None

    @property
    def restart(self) -> str:
        """The command that restarts it."""
        name = str(self.spec["name"])
        owners = [str(each["name"]) for each in self.pod.content["metadata"].get("ownerReferences") or ()]
        return _RESTART.format(self.namespace, owners[0].rpartition("-")[0] if owners else name)


@dataclass(frozen=True)
class Setting:
    """A variable as a container has it.

    Parameters
    ----------
    value
        None if it comes from a Secret, which is not read.
    source
        Where it comes from.
    """

    value: str | None
    source: Place


def api_containers(contract: Contract, snapshot: Snapshot) -> list[ApiContainer]:
    """Return the running containers of MLRun's API in the stack's namespaces."""
    return [each for each in _containers(contract, snapshot) if _phase(each.pod) == "Running"]


def _containers(contract: Contract, snapshot: Snapshot) -> list[ApiContainer]:
    """Return the containers of MLRun's API, also of pods that do not run."""
    return [
        ApiContainer(pod, container, namespace)
        for namespace in contract.config.namespaces
        for pod in snapshot.of("Pod", namespace)
        if not _is_deleted(pod)
        for container in pod.content["spec"]["containers"]
        if container["name"].startswith(API)
    ]


def _phase(pod: LiveObject) -> str:
    return str(pod.content.get("status", {}).get("phase", ""))


def settings(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that the API has the contract's settings, and nothing overrides them."""
    containers = api_containers(contract, snapshot)
    if not containers:
        if absent := _absent(contract, snapshot):
            return Outcome("", absent=absent)
        down = _down(contract, snapshot)
        return Outcome(f"{len(down)} pods of MLRun's API", tuple(_is_down(each) for each in down))
    found = [each for container in containers for each in _settings(contract, snapshot, container)]
    # Chief and workers share most sources.
    return Outcome(f"{len(containers)} containers of MLRun's API", tuple(dict.fromkeys(found)))


def _down(contract: Contract, snapshot: Snapshot) -> list[ApiContainer]:
    return [each for each in _containers(contract, snapshot) if _phase(each.pod) in _DOWN]


def _absent(contract: Contract, snapshot: Snapshot) -> str:
    """Return why there is no API to judge; empty if it should run, but is down."""
    return contract.unsettled(snapshot.taken) if _down(contract, snapshot) else _ABSENT


def _is_down(container: ApiContainer) -> Deviation:
    return Deviation(
        container.place("status.phase"),
        f"is {_phase(container.pod)}, so MLRun does not answer, and its settings cannot be compared",
        "Running",
        f"See `kubectl describe pod -n {container.namespace} {container.pod.name}`.",
    )


def _settings(contract: Contract, snapshot: Snapshot, container: ApiContainer) -> Iterator[Deviation]:
    namespace = container.namespace
    override = Place("ConfigMap", OVERRIDE_CONFIG_MAP, namespace)
    if not container.reads_override:
        action = (
            f"Add the ConfigMap as the last entry of envFrom of the API, as the chart of MLRun CE does. {contract.up}"
        )
        yield Deviation(
            container.place("spec.containers.envFrom"), f"does not read {OVERRIDE_CONFIG_MAP}", "our settings", action
        )
        return
    if not snapshot.get("ConfigMap", OVERRIDE_CONFIG_MAP, namespace):
        yield Deviation(override, "does not exist: MLRun runs without our settings", "our settings", contract.up)
        return
    demanded, has = contract.mlrun(namespace), environment(container, snapshot)
    for name in dict.fromkeys((*demanded, *_SPOT)):
        setting, wanted = has.get(name), demanded.get(name)
        problem = _problem(name, setting, wanted)
        if not problem:
            continue
        place = Place(override.kind, override.name, namespace, spelled("data", name))
        action = f"{contract.up} Then: {container.restart}"
        if setting and (name in _data(snapshot, OVERRIDE_CONFIG_MAP, namespace) or wanted is None):
            place = setting.source
        if not override.covers(place):
            action = f"Remove it there, since it hides {OVERRIDE_CONFIG_MAP}. Then: {container.restart}"
        expected = shown(_meaning(name, wanted)) if wanted else "not set"
        if name == MlrunVariable.AUTO_MOUNT_PARAMETERS and setting and setting.value is not None:
            # MLRun takes credentials there, which the stack file refuses.
            problem, expected = "has another value, which is not shown", "that of the stack file"
        yield Deviation(place, f"{name} {problem}", expected, action)


def _problem(name: str, setting: Setting | None, wanted: str | None) -> str:
    """Return what is wrong with a setting; empty if nothing is."""
    if setting is None:
        return "is not set" if wanted is not None else ""
    if setting.value is None:
        return "comes from another object, which is not read"
    try:
        meaning = _meaning(name, setting.value)
    except ValueError:
        kind = "base64 of JSON, so MLRun's API fails at its next start" if name in _ENCODED else "a valid value"
        return f"is not {kind}"
    if wanted is None:
        return f"is {shown(meaning)}, though no such nodes exist" if meaning else ""
    if meaning == _meaning(name, wanted):
        return ""
    spaces = ", with spaces, which MLRun takes as part of the names" if name == MlrunVariable.VALID_CLASSES else ""
    return f"is {shown(meaning)}{spaces if ' ' in setting.value else ''}"


def _meaning(name: str, text: str) -> Any:
    """Return what a value means to MLRun, so that other spellings of it are equal."""
    if name in _ENCODED:
        return json.loads(base64.b64decode(text, validate=True)) if text else {}
    if name == MlrunVariable.VALID_CLASSES:
        return sorted(text.split(","))
    return str(parse_quantity(text).normalize()) if name in _QUANTITIES else text


def environment(container: ApiContainer, snapshot: Snapshot) -> dict[str, Setting]:
    """Return the variables of a container as the kubelet sets them: later sources win, and ``env`` over ``envFrom``.

    https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#environment-variables
    """
    found: dict[str, Setting] = {}
    for each in container.spec.get("envFrom") or ():
        name, prefix = _source(each), each.get("prefix") or ""
        for key, value in _data(snapshot, name, container.namespace).items():
            path = spelled("data", key)
            found[prefix + key] = Setting(value, Place("ConfigMap", name, container.namespace, path))
    for each in container.spec.get("env") or ():
        place = container.place(f"spec.containers.env[{each['name']}]")
        reference = (each.get("valueFrom") or {}).get("configMapKeyRef") or {}
        data = _data(snapshot, reference.get("name", ""), container.namespace)
        found[each["name"]] = Setting(
            data.get(reference.get("key", "")) if each.get("valueFrom") else each.get("value", ""), place
        )
    return found


def keys(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that no variable is misspelt, and thresholds are of states that MLRun knows."""
    maps = [
        each
        for namespace in contract.config.namespaces
        if (each := snapshot.get("ConfigMap", OVERRIDE_CONFIG_MAP, namespace))
    ]
    named = {
        name: Place("ConfigMap", OVERRIDE_CONFIG_MAP, each.namespace, spelled("data", name))
        for each in maps
        for name in each.content.get("data") or {}
    }
    for container in api_containers(contract, snapshot):
        named |= {name: each.source for name, each in environment(container, snapshot).items()}
    known = {*MlrunVariable, *map(threshold_variable, STATE_THRESHOLDS), *_QUANTITIES, *_GPUS}
    deviations = (each for name, place in named.items() for each in _misspelt(name, place, known))
    return Outcome(f"{len(named)} variables", tuple(deviations))


def _misspelt(name: str, place: Place, known: set[str]) -> Iterator[Deviation]:
    if name in known:
        return
    if name.startswith(STATE_THRESHOLD_PREFIX):
        state = name.removeprefix(STATE_THRESHOLD_PREFIX).lower()
        yield Deviation(
            place,
            f"{name}: MLRun has no state '{state}' and refuses to submit runs",
            f"one of {', '.join(STATE_THRESHOLDS)}",
            "Remove it; the state of a running job is executing.",
        )
    elif meant := get_close_matches(name, known, 1, _ALIKE):
        yield Deviation(place, f"{name} is misspelt, so MLRun ignores it", meant[0], "Correct or remove it.")


def restarts(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that the API started after the last change of its settings, which it reads at start only."""
    running = api_containers(contract, snapshot)
    containers = [each for each in running if each.reads_override]
    if not containers:
        return Outcome("", absent=("" if running else _absent(contract, snapshot)) or _UNREAD)
    deviations = []
    for container in containers:
        live = snapshot.get("ConfigMap", OVERRIDE_CONFIG_MAP, container.namespace)
        changed = _changed(live) if live else None
        if changed and container.started and container.started < changed:
            deviations.append(
                Deviation(
                    container.place(),
                    f"started at {container.started:%Y-%m-%d %H:%M:%S}, before {OVERRIDE_CONFIG_MAP} changed",
                    f"a start after {changed:%Y-%m-%d %H:%M:%S} UTC",
                    f"Restart it: {container.restart}",
                )
            )
    return Outcome(f"{len(containers)} containers of MLRun's API", tuple(deviations))


def _changed(config_map: LiveObject) -> datetime | None:
    """Return when the content last changed; labels and annotations do not count."""
    metadata = config_map.content["metadata"]
    entries = metadata.get("managedFields") or ()
    times = [each.get("time") for each in entries if "f:data" in (each.get("fieldsV1") or {})]
    return max((found for each in (metadata.get("creationTimestamp"), *times) if (found := _time(each))), default=None)


def _source(entry: Mapping[str, Any]) -> str:
    return str((entry.get("configMapRef") or {}).get("name", ""))


def _data(snapshot: Snapshot, name: str, namespace: str) -> Mapping[str, str]:
    live = snapshot.get("ConfigMap", name, namespace)
    return (live.content.get("data") or {}) if live else {}


def _is_deleted(pod: LiveObject) -> bool:
    return bool(pod.content["metadata"].get("deletionTimestamp"))


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
