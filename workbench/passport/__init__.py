"""Passports: what was verified of a cluster at a commit, signed, so that the cluster can be compared with it later."""
