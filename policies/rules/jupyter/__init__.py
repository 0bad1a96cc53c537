"""Interactive notebooks: placement, persistence and idle shutdown."""
