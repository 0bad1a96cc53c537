"""Kubernetes without a cluster."""
