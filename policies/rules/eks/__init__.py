"""Security of the EKS control plane."""
