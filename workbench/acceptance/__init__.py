"""The acceptance run: the whole life cycle of a stack in a copy of it, step by step, with a record of the results."""
