"""What developers run: benchmarks, generators of facts and pages, recordings. Nothing of it ships."""
