"""Types of resources that no rule reads."""
