"""Parses hand-written files into models; returns their problems as lines for people and as rows for scripts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from components.stack_files import yaml_source
from components.stack_files.yaml_source import Source, SourceError
from infra.config import Problem
from infra.config.problems import problems_of, shown

Model = TypeVar("Model", bound=BaseModel)


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


def content_of(file: Path) -> Source | Problem:
    """Return the content of a file, or why it cannot be read."""
    try:
        return yaml_source.read(file)
    except SourceError as error:
        return error.problem
    except OSError as error:
        return Problem(None, f"the file cannot be read: {error.strerror}")


def parsed(source: Source, model: type[Model]) -> tuple[Model | None, list[Problem]]:
    """Return the model of a file, None if the file is invalid, and all problems of the file."""
    if not isinstance(source.document, dict):
        keys = tuple(field.alias or name for name, field in model.model_fields.items())
        return None, [*source.problems, Problem(None, "the file must be a mapping", shown(source.document), keys)]
    try:
        return model.model_validate(source.document), list(source.problems)
    except ValidationError as error:
        unread = {problem.path for problem in source.problems}
        found = (problem for problem in problems_of(error, model) if problem.path not in unread)
        return None, [*source.problems, *found]
