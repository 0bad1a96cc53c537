"""The acceptance run: the whole life of a copy of a stack, step by step, with a record of what was seen."""
