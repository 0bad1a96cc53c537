"""Runs the Pulumi engine on a stack: environment, state, policy packs, checks before and after."""

from workbench.engine.session import INTERRUPTED, Session, open_session

__all__ = ["INTERRUPTED", "Session", "open_session"]
