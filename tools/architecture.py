"""Draws the architecture page's diagram from the imports that the code really has.

``python -m tools.architecture --write`` renews ``docs/architecture.md``; a test fails when it is stale.
"""

import re
import sys

import grimp

from workbench.system.paths import PROJECT_ROOT

PAGE = PROJECT_ROOT / "docs" / "architecture.md"
PACKAGES = ("workbench", "infra", "components", "policies")
_DIAGRAM = re.compile(r"```mermaid\n.*?```", re.DOTALL)


def diagram() -> str:
    """Return a Mermaid flow chart: a box a package, an arrow from each package to those that it imports."""
    graph = grimp.build_graph(*PACKAGES)
    edges = {
        (_room(importer), _room(imported))
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if _room(importer) != _room(imported)
    }
    rooms = sorted({_room(module) for module in graph.modules if "." in module})
    lines = ["flowchart LR"]
    for package in PACKAGES:
        lines.append(f"  subgraph {package}")
        lines.extend(f'    {room}["{room.removeprefix(package + ".")}"]' for room in rooms if room.startswith(package))
        lines.append("  end")
    lines.extend(f"  {importer} --> {imported}" for importer, imported in sorted(edges))
    return "```mermaid\n" + "\n".join(lines) + "\n```"


def _room(module: str) -> str:
    """Return the room that a module belongs to: its folder, or its whole package where that is one room."""
    parts = module.split(".")
    folder = PROJECT_ROOT.joinpath(*parts[:2])
    return ".".join(parts[:2]) if len(parts) > 1 and folder.is_dir() else parts[0]


def page(current: str) -> str:
    """Return the page's text with the diagram of now."""
    return _DIAGRAM.sub(lambda _: diagram(), current)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tools.architecture --write")
    PAGE.write_text(page(PAGE.read_text()))
