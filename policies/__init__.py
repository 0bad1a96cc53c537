"""Policy packs: one rule, one file."""
