"""Placement, limits and order of work: priority classes, namespaces, quotas, admission."""
