"""Builds, describes and signs a release: ``python -m tools.release``."""
