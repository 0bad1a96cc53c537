"""Node groups: roles, sizes, lifecycles, taints."""
