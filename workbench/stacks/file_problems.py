"""The problems of one hand-written file, as lines for people and as rows for scripts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

from components.stack_files.yaml_source import Source
from infra.config import Problem


@dataclass(frozen=True)
class FileProblems:
    """Problems of a file, by line."""

    file: str
    """The file's path as messages show it."""
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, file: str, problems: Iterable[Problem]) -> Self:
        """Return the problems of a file in the order of their lines."""
        return cls(file, tuple(sorted(problems, key=lambda each: (each.file or "", each.line or 0, each.column or 0))))

    @property
    def heading(self) -> str:
        """How many problems the file has."""
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        files = dict.fromkeys(problem.file or self.file for problem in self.problems)
        return f"{count} in {' and '.join(files)}"

    @property
    def lines(self) -> list[str]:
        """One line per problem, in the FILE:LINE form that editors and terminals can jump to."""
        return [
            problem.place + str(problem)
            for problem in (replace(each, file=each.file or self.file) for each in self.problems)
        ]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every problem as data, for scripts."""
        keys = ("line", "column", "path", "message", "given", "allowed")
        return [
            {"file": problem.file or self.file, **{key: getattr(problem, key) for key in keys}}
            for problem in self.problems
        ]


def located(problem: Problem, source: Source) -> Problem:
    """Return a problem with the position of its path in the file."""
    position = source.position(problem.path or ())
    return replace(problem, line=problem.line or position.line, column=problem.column or position.column)
