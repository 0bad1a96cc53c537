"""Helm values and settings of each system on the cluster, derived from a stack file."""
