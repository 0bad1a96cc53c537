"""Identities in the cloud: of pods, and of whoever could use their rights from elsewhere."""
