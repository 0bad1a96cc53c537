"""Interactive notebooks: where they run, what they keep, when they stop."""
