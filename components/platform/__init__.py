"""What the software on top of the cluster is told."""
