"""The command line ``igz-clusters``."""

from workbench.cli.app import main

__all__ = ["main"]
