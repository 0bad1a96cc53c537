"""What Azure knows of each type: which bodies it takes, what it adds to them, and what keeps one from going."""
