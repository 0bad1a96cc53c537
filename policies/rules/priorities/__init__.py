"""Priority classes and who uses which."""
