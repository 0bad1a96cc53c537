"""The program: configuration, components, outputs."""
