"""Data of the page's script: nodes, pods and events of an outcome in a compact form."""

import json
from collections.abc import Iterable
from typing import Any, Final

from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.record import NodeRecord, PodRecord, Record
from workbench.rehearsal.report.figures import pools
from workbench.rehearsal.report.markup import clean

NODE_FIELDS: Final = ("name", "pool", "lifecycle", "created", "ready", "gone", "cause", "cpu", "memory", "gpus", "zone")
POD_FIELDS: Final = (
    *("name", "work", "team", "kind", "created", "scheduled", "started", "ended", "end", "node"),
    *("cpu", "memory", "gpus", "cause", "reason"),
)
"""Names of a row's values, in their order; ``node`` is an index into nodes, ``reason`` one into texts, -1 is none."""


class _Texts:
    """Texts that many pods share, each once."""

    def __init__(self) -> None:
        self.indexes: dict[str, int] = {}

    def index(self, text: str) -> int:
        return self.indexes.setdefault(text, len(self.indexes)) if text else -1


def embedded(outcomes: Iterable[Outcome]) -> str:
    """Return the data of outcomes as JSON that a script element can hold."""
    data = json.dumps([_outcome(each) for each in outcomes], separators=(",", ":"), allow_nan=False)
    # The data must not end the element or open a comment in it.
    return data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _outcome(outcome: Outcome) -> dict[str, Any] | None:
    record = outcome.record
    if record is None:
        return None
    texts = _Texts()
    indexes = {node.name: index for index, node in enumerate(record.nodes)}
    return {
        "lasts": record.lasts,
        "pools": [
            {
                "name": clean(each.pool),
                "machines": clean(", ".join(each.machines)),
                "lifecycles": [clean(name) for name in each.lifecycles],
                "sizes": each.sizes,
                "least": each.least,
                "most": each.most,
            }
            for each in pools(outcome)
        ],
        "nodes": [_node(node) for node in record.nodes],
        "pods": [_pod(pod, indexes, texts) for pod in record.pods],
        "events": _events(record),
        "texts": [clean(text) for text in texts.indexes],
        "nodeFields": NODE_FIELDS,
        "podFields": POD_FIELDS,
    }


def _seconds(moment: float | None) -> float | None:
    return None if moment is None else round(moment, 1)


def _node(node: NodeRecord) -> list[Any]:
    moments = map(_seconds, (node.created, node.ready, node.gone))
    sizes = (node.cpu_millis, node.memory_mib, node.gpus)
    names = map(clean, (node.name, node.pool, node.lifecycle))
    return [*names, *moments, clean(node.gone_cause), *sizes, clean(node.zone or "")]


def _pod(pod: PodRecord, nodes: dict[str, int], texts: _Texts) -> list[Any]:
    moments = map(_seconds, (pod.created, pod.scheduled, pod.started, pod.ended))
    reason = f"{pod.reasons[-1].component}: {pod.reasons[-1].text}" if pod.reasons else ""
    node = -1 if pod.node is None else nodes.get(pod.node, -1)
    sizes = (pod.cpu_millis, pod.memory_mib, pod.gpus)
    names = map(clean, (pod.name, pod.work, pod.team, pod.kind))
    return [*names, *moments, pod.end.value, node, *sizes, clean(pod.end_cause), texts.index(reason)]


def _events(record: Record) -> list[dict[str, Any]]:
    return [
        {"at": _seconds(each.at), "event": clean(each.event), "text": clean(each.text)} for each in record.happenings
    ]
