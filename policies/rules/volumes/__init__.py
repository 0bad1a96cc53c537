"""Volumes of pods and their access keys."""
