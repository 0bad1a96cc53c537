"""AKS clusters and their agent pools, hardened."""
