"""The Pulumi Kubernetes Operator: its ``Stack`` objects for the stacks of a folder, made and compared."""
