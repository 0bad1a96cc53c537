"""The problems of one hand-written file, as lines for people and as rows for scripts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

from infra.config import Problem
from workbench.stacks.yaml_source import Source


@dataclass(frozen=True)
class FileProblems:
    """Problems of a file, by line."""

    file: str
    """The file's path as messages show it."""
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, file: str, problems: Iterable[Problem]) -> Self:
        """Return the problems of a file in the order of their lines."""
        return cls(file, tuple(sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0))))

    @property
    def heading(self) -> str:
        """How many problems the file has."""
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        return f"{count} in {self.file}"

    @property
    def lines(self) -> list[str]:
        """One line per problem, in the FILE:LINE form that editors and terminals can jump to."""
        return [
            ":".join([self.file, *([str(problem.line)] if problem.line else [])]) + f": {problem}"
            for problem in self.problems
        ]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every problem as data, for scripts."""
        keys = ("line", "column", "path", "message", "given", "allowed")
        return [{"file": self.file, **{key: getattr(problem, key) for key in keys}} for problem in self.problems]


def located(problem: Problem, source: Source) -> Problem:
    """Return a problem with the position of its path in the file."""
    position = source.position(problem.path or ())
    return replace(problem, line=problem.line or position.line, column=problem.column or position.column)
