"""Tags of cloud resources."""
