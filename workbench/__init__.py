"""Tools around the engine: command line, toolchain, local control plane."""
