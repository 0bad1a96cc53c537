"""Writes ``docs/rehearsal.schema.json``: the JSON Schema of scenario files, for editors.

``python -m tools.pages.rehearsal --write`` renews it, ``--check`` says whether it is current; a test does so too.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any, Final

from components.contract.labels import LABEL_VALUE_PATTERN
from infra.config.reference import tidy
from infra.config.tree import KIND
from workbench.rehearsal.scenario.kinds import KINDS_OF_KEY, WorkKind
from workbench.rehearsal.scenario.model import WORKS_MAX, Scenario
from workbench.rehearsal.scenario.work import NAMESPACE_PATTERN, TOLERATION
from workbench.system.paths import PROJECT_ROOT

SCHEMA: Final = PROJECT_ROOT / "docs" / "rehearsal.schema.json"
USAGE: Final = "usage: python -m tools.pages.rehearsal --write | --check"

KINDS: Final = {
    WorkKind.MLRUN_JOB: "job of MLRun: a bare pod; a lost one stays lost",
    WorkKind.NUCLIO_FUNCTION: "Nuclio function: a Deployment; lost pods come back",
    WorkKind.NOTEBOOK: "Jupyter server of a user: a bare pod on the pools for notebooks",
    WorkKind.SPARK: "Spark application: a driver and executors, which come back",
    WorkKind.DASK: "Dask cluster of MLRun: a scheduler and workers",
    WorkKind.MPI: "MPI job: a launcher without GPU, and workers",
    WorkKind.PIPELINE: "run of Kubeflow Pipelines: steps one after the other",
    WorkKind.SERVICE: "application service or model server: a Deployment",
    WorkKind.CORE_SERVICE: "service of the platform, such as MLRun's API: a Deployment",
    WorkKind.BATCH_JOB: "Kubernetes Job that a user wrote; lost pods start again",
    WorkKind.POD: "bare pod exactly as in `pod`",
}
"""What each kind of work is, for editors and for ``docs/rehearsal.md``."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file."""
    whole: dict[str, Any] = tidy(_plain(Scenario.model_json_schema()))
    definitions = whole["$defs"]
    listed = "\n".join(f"- {kind}: {text}" for kind, text in KINDS.items())
    definitions["WorkKind"]["description"] = f"What makes the pods.\n{listed}"
    whole["properties"]["works"]["maxProperties"] = WORKS_MAX
    for name, further in _checks().items():
        definitions[name]["allOf"] = further
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Made by `python -m tools.pages.rehearsal --write`; edit the models instead.",
        "title": "Scenario of igz-clusters rehearse",
        **whole,
    }


def _checks() -> dict[str, list[dict[str, Any]]]:
    """Return what the models' validators check, as far as a schema can say it, by definition."""
    values = {key: {"enum": list(each)} if each else {} for key, each in TOLERATION.items()}
    toleration = {"properties": values, "additionalProperties": False}
    of_texts = {"additionalProperties": {"pattern": LABEL_VALUE_PATTERN}}
    work = {
        "namespace": {"pattern": NAMESPACE_PATTERN},
        "team": {"pattern": LABEL_VALUE_PATTERN},
        "nodeSelector": of_texts,
        "labels": of_texts,
        "tolerations": {"items": toleration},
        "pod": {"required": ["containers"], "properties": {"containers": {"type": "array", "minItems": 1}}},
    }
    return {
        "Work": [
            {"properties": work},
            {"not": {"required": ["priority", "priorityClass"]}},
            {"not": {"required": ["scales", "workers"]}},
            *_by_kind(),
        ],
        "Arrival": [
            {"if": {"required": ["every"]}, "then": {"properties": {"count": {"minimum": 2}}, "required": ["count"]}}
        ],
        "AtMost": [{"anyOf": [{"required": [bound]} for bound in ("nodeHours", "usd", "nodes")]}],
        "NeverOn": [{"properties": {"place": {"minProperties": 1}}}],
        "SpotReclaim": [{"properties": {"place": {"properties": {"lifecycle": {"const": "spot"}}}}}],
    }


def _by_kind() -> list[dict[str, Any]]:
    """Return the conditions that tie keys of a work to its kind."""
    conditions: list[dict[str, Any]] = []
    for kind in WorkKind:
        unfit = [key for key, kinds in KINDS_OF_KEY.items() if kind not in kinds]
        then: dict[str, Any] = {"properties": dict.fromkeys(unfit, False)}
        if kind is WorkKind.POD:
            then["required"] = ["pod"]
        conditions.append({"if": {"properties": {"kind": {"const": kind.value}}, "required": ["kind"]}, "then": then})
    return conditions


def _plain(said: Any) -> Any:
    """Return a schema without our own keywords and without the defaults of durations, which are seconds inside."""
    if isinstance(said, list):
        return [_plain(item) for item in said]
    if not isinstance(said, dict):
        return said
    is_duration = str(said.get(KIND, "")).startswith("duration")
    dropped = {KIND, *({"default"} if is_duration else ())}
    return {key: _plain(value) for key, value in said.items() if key not in dropped}


def schema_text() -> str:
    """Return the schema as stored in the repository."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Write the schema, or exit with 1 if it is stale."""
    if list(arguments) == ["--write"]:
        SCHEMA.write_text(schema_text(), encoding="utf-8")
    elif list(arguments) == ["--check"]:
        if not SCHEMA.exists() or SCHEMA.read_text(encoding="utf-8") != schema_text():
            sys.exit(f"{SCHEMA.relative_to(PROJECT_ROOT)} is stale; run `python -m tools.pages.rehearsal --write`")
    else:
        sys.exit(USAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
