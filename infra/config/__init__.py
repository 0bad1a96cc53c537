"""Parses and validates the stack file, and describes its keys."""

from components.stack_files.problem import CONFIG_KEY
from infra.config.model import ENGINE_KEYS, SCHEMA_VERSION, StackConfig
from infra.config.parse import ConfigurationError, parse
from infra.config.problems import KeyPath, Problem

__all__ = [
    "CONFIG_KEY",
    "ENGINE_KEYS",
    "SCHEMA_VERSION",
    "ConfigurationError",
    "KeyPath",
    "Problem",
    "StackConfig",
    "parse",
]
