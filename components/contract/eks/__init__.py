"""Settings of an EKS cluster in a stack file, and what is derived from them."""
