"""What each system on the cluster must be told, derived from a stack file: Helm values and settings."""
