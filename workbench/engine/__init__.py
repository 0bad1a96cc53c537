"""Running the Pulumi engine on a stack: its environment, its state, its policy packs."""

from workbench.engine.session import INTERRUPTED, Session, open_session

__all__ = ["INTERRUPTED", "Session", "open_session"]
