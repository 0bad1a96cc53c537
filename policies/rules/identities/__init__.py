"""Identities in the cloud: of pods, and keys that could be used from elsewhere."""
