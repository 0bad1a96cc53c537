"""Pulumi components: clusters, scheduling of pods, and settings of the platform."""
