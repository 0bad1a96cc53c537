"""Hand-written settings as files: what program, policy packs and command line read in the same way."""
