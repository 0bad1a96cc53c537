"""Priority classes and their use."""
