"""Live node pools of a cluster, as a table or as JSON."""

import json
import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from components.contract.groups import NodeGroup
from components.contract.labels import AnnotationKey, LabelKey, WellKnownLabel
from components.contract.priorities import UserPriority
from infra.config import StackConfig
from workbench.engine.kubectl import Api

SETTLE_SECONDS = 30
"""Seconds to wait for new nodes; simulated ones are ready within a few seconds."""

_PLAIN: Final[dict[str, Any]] = {"soft_wrap": True, "markup": False, "highlight": False}


@dataclass(frozen=True)
class PoolRow:
    """One node group (most pools have a single one): declared settings and live node counts."""

    pool: str
    group: str
    role: str
    lifecycle: str
    ready: int
    nodes: int
    min: int
    max: int
    instance_types: list[str]
    labels: dict[str, str]
    taints: list[str]


def pool_rows(config: StackConfig, api: Api) -> list[PoolRow]:
    """Return one row per node group, with live node counts."""
    nodes: list[dict[str, Any]] = json.loads(api.run("get", "nodes", "-o", "json"))["items"]
    live = Counter(_group_of(node) for node in nodes)
    ready = Counter(_group_of(node) for node in nodes if _is_ready(node))
    return [_row(group, ready[group.name], live[group.name]) for group in config.groups]


def settled_rows(config: StackConfig, api: Api) -> list[PoolRow]:
    """Return the rows once every group has its minimum of ready nodes, at the latest after ``SETTLE_SECONDS``."""
    deadline = time.monotonic() + SETTLE_SECONDS
    rows = pool_rows(config, api)
    while any(row.ready < row.min for row in rows) and time.monotonic() < deadline:
        time.sleep(0.5)
        rows = pool_rows(config, api)
    return rows


def show(rows: list[PoolRow], *, as_json: bool, console: Console) -> None:
    """Print the pools and the priority classes, or the pools as JSON on standard output."""
    if as_json:
        console.print_json(json.dumps([asdict(row) for row in rows]))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("group", "role", "lifecycle", "ready", "size", "type"):
        table.add_column(heading, no_wrap=heading != "type")
    for row in rows:
        size = f"{row.nodes} of {row.min}..{row.max}"
        table.add_row(row.group, row.role, row.lifecycle, str(row.ready), size, ", ".join(row.instance_types))
    console.print(table)
    for row in rows:
        labels = " ".join(f"{key}={value}" for key, value in sorted(row.labels.items()))
        console.print(f"\n{row.group}\n  labels  {labels}\n  taints  {' '.join(row.taints) or 'none'}", **_PLAIN)
    console.print("\npriority classes (none preempts running pods)", **_PLAIN)
    console.print("  " + "  ".join(f"{tier.value}={tier.priority}" for tier in UserPriority), **_PLAIN)


def _row(group: NodeGroup, ready: int, nodes: int) -> PoolRow:
    return PoolRow(
        pool=group.pool,
        group=group.name,
        role=group.role.value,
        lifecycle=group.lifecycle.value,
        ready=ready,
        nodes=nodes,
        min=group.size.min,
        max=group.size.max,
        instance_types=[instance.name for instance in group.instances],
        labels={key: value for key, value in group.labels.items() if key not in set(WellKnownLabel)},
        taints=[str(taint) for taint in group.taints],
    )


def _group_of(node: dict[str, Any]) -> str | None:
    metadata = node["metadata"]
    name: str | None = metadata.get("annotations", {}).get(
        AnnotationKey.GROUP, metadata.get("labels", {}).get(LabelKey.POOL)
    )
    return name


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
