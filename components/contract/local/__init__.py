"""Settings of a local cluster in a stack file."""
