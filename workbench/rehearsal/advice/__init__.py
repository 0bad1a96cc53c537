"""Searches for the smallest change of a stack file that meets missed expectations."""
