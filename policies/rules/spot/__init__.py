"""Work on machines that the cloud may reclaim, and what MLRun and Nuclio are told of them."""
