"""Texts of stack files for tests."""

VALID = """\
config:
  igz-clusters:stack:
    schemaVersion: 1
    environment: dev
    cluster: { kind: local }
    pools:
      initial:
        role: initial
        size: { min: 2, max: 2 }
        instanceTypes: [m6i.2xlarge]
"""
"""The smallest stack file; its last mapping is ``pools``, so that rows of pools can be appended."""
