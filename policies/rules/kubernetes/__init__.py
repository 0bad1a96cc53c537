"""Security of objects inside the cluster."""
