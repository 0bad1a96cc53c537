"""Reviews a change: plans every affected stack and evaluates it with the rules of the base branch."""
