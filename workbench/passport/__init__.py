"""Passports: what was verified of a cluster at a commit, signed, so that a later look can be compared with it."""
