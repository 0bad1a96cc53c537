"""Running the Pulumi engine on a stack: its environment, its state, its policy packs."""

from workbench.engine.session import Session, open_session

__all__ = ["Session", "open_session"]
