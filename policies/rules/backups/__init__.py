"""Backups of clusters, and what becomes of them."""
