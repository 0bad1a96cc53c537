"""Reports on planned or finished runs of the engine: one model, rendered for people and scripts."""
