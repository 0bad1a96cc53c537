"""Backups of clusters, and vaults that keep them."""
