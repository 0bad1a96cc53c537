"""The EKS control plane, hardened."""
