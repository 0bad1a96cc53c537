"""Settings for the software on top of the cluster."""
