"""Measures the shipped source against its size budgets: ``python -m tools.sizes`` prints what exceeds them."""

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.tracked import tracked
from workbench.system.paths import PROJECT_ROOT

SHIPPED: Final = ("infra", "components", "policies", "workbench")
"""Folders of the source that ships."""

FEATURES: Final = 54_400
"""Lines granted for what was added after the split of the workbench, such as ``check``, ``accept``, placement,
``verify``, ``rehearse``, cloud identities, shared storage, office hours, shared and reserved GPUs, fast networks,
headroom, backups, ways in, limits of upgrades with a way back, closed networks, fleets, passports, bases of stack
files, the component package, and the Pulumi Kubernetes Operator."""

TOTAL_MAX: Final = 42_000 + FEATURES
"""Lines of all shipped files together, blank lines included."""

FILE_MAX: Final = 350
"""Lines of a file."""

FUNCTION_MAX: Final = 60
"""Lines of a function, without its decorators."""

DOCSTRINGS_MIN: Final = 0.95
"""Share of public modules, classes and functions with a docstring."""

_EXEMPT: Final = ("override", "overload")
"""Decorators whose functions are documented elsewhere."""

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Sizes:
    """Measurements of Python files.

    Parameters
    ----------
    files
        Lines by file.
    functions
        Lines by function, as ``file:line name``.
    documented, undocumented
        Public modules, classes and functions with and without a docstring.
    """

    files: dict[str, int]
    functions: dict[str, int]
    documented: tuple[str, ...]
    undocumented: tuple[str, ...]

    @property
    def total(self) -> int:
        """Lines of all files."""
        return sum(self.files.values())

    @property
    def docstrings(self) -> float:
        """Share of public definitions that have a docstring; 1 if there are none."""
        return len(self.documented) / (len(self.documented) + len(self.undocumented) or 1) if self.documented else 1.0

    @property
    def problems(self) -> list[str]:
        """Everything above a budget, largest first."""
        large = sorted(((lines, name) for name, lines in self.files.items() if lines > FILE_MAX), reverse=True)
        long = sorted(((lines, name) for name, lines in self.functions.items() if lines > FUNCTION_MAX), reverse=True)
        total = [f"{self.total} lines are shipped; at most {TOTAL_MAX}"] if self.total > TOTAL_MAX else []
        share = f"{self.docstrings:.1%} of public definitions have a docstring; at least {DOCSTRINGS_MIN:.0%}"
        return [
            *total,
            *(f"{name} has {lines} lines; at most {FILE_MAX} per file" for lines, name in large),
            *(f"{name} has {lines} lines; at most {FUNCTION_MAX} per function" for lines, name in long),
            *([share, *self.undocumented] if self.docstrings < DOCSTRINGS_MIN else []),
        ]


def shipped(root: Path = PROJECT_ROOT) -> list[Path]:
    """Return the shipped Python files that Git tracks."""
    return [root / name for name in tracked(*(f"{folder}/*.py" for folder in SHIPPED), root=root)]


def measure(files: Iterable[Path], root: Path = PROJECT_ROOT) -> Sizes:
    """Measure Python files.

    Parameters
    ----------
    files
        The files to measure.
    root
        Folder to which names are relative.
    """
    lines, functions = dict[str, int](), dict[str, int]()
    documented, undocumented = list[str](), list[str]()
    for file in files:
        name, text = file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")
        lines[name] = len(text.splitlines())
        module = ast.parse(text)
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions[f"{name}:{node.lineno} {node.name}"] = (node.end_lineno or node.lineno) - node.lineno + 1
        (documented if ast.get_docstring(module) else undocumented).append(name)
        for node in _public(module):
            (documented if ast.get_docstring(node) else undocumented).append(f"{name}:{node.lineno} {node.name}")
    return Sizes(lines, functions, tuple(documented), tuple(undocumented))


def _public(parent: ast.Module | ast.ClassDef) -> Iterator[_Definition]:
    """Yield public classes and functions, and public methods of public classes."""
    for node in parent.body:
        if isinstance(node, _Definition) and not node.name.startswith("_") and not _is_exempt(node):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from _public(node)


def _is_exempt(node: _Definition) -> bool:
    names = {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in node.decorator_list}
    return not names.isdisjoint(_EXEMPT)


def main() -> None:
    """Print the totals and everything above a budget; exit code 1 if there is any."""
    sizes = measure(shipped())
    print(f"{sizes.total} lines in {len(sizes.files)} files; {sizes.docstrings:.1%} of public definitions documented")
    print("\n".join(sizes.problems))
    sys.exit(bool(sizes.problems))


if __name__ == "__main__":
    main()
