"""Draws the import diagram of ``docs/imports.md`` from the code.

``python -m tools.architecture --write`` renews it; a test fails when it is stale.
"""

import re
import sys

import grimp

from workbench.system.paths import PROJECT_ROOT

PAGE = PROJECT_ROOT / "docs" / "imports.md"
PACKAGES = ("workbench", "infra", "components", "policies")
_DIAGRAM = re.compile(r"```mermaid\n.*?```", re.DOTALL)


def diagram() -> str:
    """Return a Mermaid flow chart with a box per package and an arrow to each package that it imports."""
    graph = grimp.build_graph(*PACKAGES)
    edges = {
        (_package(importer), _package(imported))
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if _package(importer) != _package(imported)
    }
    packages = sorted({_package(module) for module in graph.modules if "." in module})
    lines = ["flowchart LR"]
    for package in PACKAGES:
        lines.append(f"  subgraph {package}")
        boxes = (box for box in packages if box.startswith(package))
        lines.extend(f'    {box}["{box.removeprefix(package + ".")}"]' for box in boxes)
        lines.append("  end")
    lines.extend(f"  {importer} --> {imported}" for importer, imported in sorted(edges))
    return "```mermaid\n" + "\n".join(lines) + "\n```"


def _package(module: str) -> str:
    """Return the box of a module: its subpackage, or the top-level package for modules directly in it."""
    parts = module.split(".")
    folder = PROJECT_ROOT.joinpath(*parts[:2])
    return ".".join(parts[:2]) if len(parts) > 1 and folder.is_dir() else parts[0]


def page(current: str) -> str:
    """Return the page's text with a current diagram."""
    return _DIAGRAM.sub(lambda _: diagram(), current)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tools.architecture --write")
    PAGE.write_text(page(PAGE.read_text()))
