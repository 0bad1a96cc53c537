"""Pulumi components: clusters, what is scheduled on them, what the platform is told."""
