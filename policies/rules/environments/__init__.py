"""One environment per cluster, and what may run in it."""
