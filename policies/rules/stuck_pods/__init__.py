"""Work that neither ends nor starts."""
