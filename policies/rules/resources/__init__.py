"""Requests, limits, quotas and replicas: what work takes from the cluster."""
