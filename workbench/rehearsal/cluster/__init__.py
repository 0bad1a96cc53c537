"""The cluster of a stack file as simulated nodes on a control plane of its own."""
