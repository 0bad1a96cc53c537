"""Creates scenarios from what happened on another cluster."""
