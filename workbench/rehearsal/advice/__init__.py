"""Searches for a change of a stack file that meets missed expectations, and makes it small."""
