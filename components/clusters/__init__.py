"""Kinds of clusters. Each takes the same node groups and offers the same handle."""
