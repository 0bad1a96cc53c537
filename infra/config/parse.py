"""Converts plain data to typed choices, or reports all problems at once."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from components.stack_files.base import BASE_KEY
from infra.config.model import StackConfig
from infra.config.problems import Problem, problems_of, shown
from infra.config.stack_file import StackFile


class ConfigurationError(Exception):
    """All problems of one stack's choices."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def parse(document: Any) -> StackConfig:
    """Return the choices in ``document``, the value of ``igz-clusters:stack`` with the settings of its base.

    Raises
    ------
    ConfigurationError
        With every problem at once, each at its own path.
    """
    if isinstance(document, Mapping) and BASE_KEY in document:
        message = "names a base, which only a stack file can have; remove it, and give its settings here"
        raise ConfigurationError([Problem((BASE_KEY,), message, shown(document[BASE_KEY]))])
    try:
        return StackConfig.model_validate(document)
    except ValidationError as error:
        raise ConfigurationError(problems_of(error, StackFile)) from None
