"""What a run of the engine would do, or did, in one model; and its renderings for people and scripts."""
