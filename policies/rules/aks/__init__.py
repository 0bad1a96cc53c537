"""Security of AKS clusters and their agent pools."""
