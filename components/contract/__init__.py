"""Vocabulary shared by clusters, policies and the platform: pure data, no I/O."""
