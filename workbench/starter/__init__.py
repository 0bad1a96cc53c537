"""A user's own repository: stack files, workflow, and this package pinned to one release."""

from workbench.starter.pin import Pin, pin_of, pin_of_wheel
from workbench.starter.repository import SHAPES, create, outer_repository, stack_names

__all__ = ["SHAPES", "Pin", "create", "outer_repository", "pin_of", "pin_of_wheel", "stack_names"]
