"""Where pods run."""
