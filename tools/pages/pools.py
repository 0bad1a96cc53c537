"""Draws ``docs/pictures/pools.svg``: the pools of ``Pulumi.local.yaml``, what runs on each, and how many nodes it has.

``python -m tools.pages.pools --write`` renews it, ``--check`` says whether it is current; a test does so too.
"""

import sys
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape

import yaml

from components.contract.lifecycle import Lifecycle
from components.contract.pools import NodePool
from components.contract.roles import PoolRole
from infra.config import CONFIG_KEY, parse
from policies.generated import keep_current
from workbench.system.paths import PROJECT_ROOT

STACK_FILE: Final = PROJECT_ROOT / "Pulumi.local.yaml"
PICTURE: Final = PROJECT_ROOT / "docs" / "pictures" / "pools.svg"

WORK: Final = {
    PoolRole.INITIAL: "core services: MLRun, Nuclio, databases",
    PoolRole.WORKLOAD: "jobs and functions",
    PoolRole.JUPYTER: "notebooks",
    PoolRole.GPU: "training and inference on GPUs",
    PoolRole.DATA: "V3IO data nodes",
}
"""What runs on a pool of each role."""
INTERRUPTED: Final = "jobs that may be interrupted"
"""What runs on spot nodes."""

WIDTH, ROW, LEFT, RIGHT, NODE, STEP = 590, 64, 20, 322, 9, 12.4
"""Pixels: of the picture, of a row, to both columns, of a node, and from one node to the next."""

STYLE: Final = """\
text { font: 14px system-ui, sans-serif; fill: #475467 } .name { font-weight: 600; font-size: 17px; fill: #101828 }
.card { fill: #ffffff; stroke: #d0d5dd } .line { stroke: #eaecf0 }
.initial { --c: #475467 } .workload { --c: #1d6fd8 } .jupyter { --c: #b54708 } .gpu { --c: #067647 }
.data { --c: #6941c6 }
.node { stroke: var(--c); fill: none; stroke-width: 1.5 } .always { fill: var(--c) }
@media (prefers-color-scheme: dark) {
text { fill: #b4bcc8 } .name { fill: #f2f4f7 } .card { fill: #10151b; stroke: #344054 } .line { stroke: #263040 }
.initial { --c: #98a2b3 } .workload { --c: #6cb0ff } .jupyter { --c: #fdb022 } .gpu { --c: #47cd89 }
.data { --c: #bdb4fe }
}"""


def picture() -> str:
    """Return the picture as SVG; its colours follow the reader's choice of light or dark."""
    choices = yaml.safe_load(STACK_FILE.read_text(encoding="utf-8"))["config"][CONFIG_KEY]
    pools = parse(choices).pools
    height = ROW * len(pools) + 16
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    rows = (line for row, (name, pool) in enumerate(pools.items()) for line in _row(row, name, pool))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">',
            f'<title id="title">The pools of {STACK_FILE.name}</title>',
            f"<style>{STYLE}</style>",
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>',
            *rows,
            "</svg>\n",
        ]
    )


def _row(row: int, name: str, pool: NodePool) -> Iterator[str]:
    top = 8 + row * ROW
    is_spot = pool.lifecycle is Lifecycle.SPOT
    work = INTERRUPTED if is_spot else WORK[pool.role]
    least, most = pool.size.min, pool.size.max
    nodes = f"always {most}" if least == most else f"{least} to {most}"
    if row:
        yield f'<line class="line" x1="{LEFT}" x2="{WIDTH - LEFT}" y1="{top}" y2="{top}"/>'
    yield f'<text class="name" x="{LEFT}" y="{top + 28}">{escape(name)}</text>'
    yield f'<text x="{LEFT}" y="{top + 50}">{escape(work)}</text>'
    yield f'<text x="{RIGHT}" y="{top + 28}">{nodes} nodes, {pool.lifecycle}</text>'
    yield f'<g class="{pool.role}">'
    for index in range(most):
        kind = "node always" if index < least else "node"
        at = f'x="{RIGHT + index * STEP:g}" y="{top + 40}" width="{NODE}" height="{NODE}"'
        yield f'<rect class="{kind}" {at} rx="2.5"/>'
    yield "</g>"


if __name__ == "__main__":
    sys.exit(keep_current(PICTURE, picture(), "tools.pages.pools", __doc__))
