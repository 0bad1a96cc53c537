"""One environment per cluster, and the work allowed in it."""
