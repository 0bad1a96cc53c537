"""One environment a cluster, and what may run in it."""
