"""Kinds of clusters. Each accepts the same node groups and has the same handle."""
