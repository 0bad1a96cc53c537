"""Makes scenarios of what happened on another cluster."""
