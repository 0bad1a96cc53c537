"""Types of resources that rules do not check."""
