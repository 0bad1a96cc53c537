"""Settings of an AKS cluster in a stack file, and what is derived from them."""
