"""The policy packs as a person uses them: overrides of a folder of stacks, lists, explanations, checks of a state."""
