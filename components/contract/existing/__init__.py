"""Settings of an existing cluster in a stack file, and its inventory."""
