"""Work on spot nodes, and the spot settings of MLRun and Nuclio."""
