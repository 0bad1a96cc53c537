"""Recovery in Azure: finds resources by ARM id, which follows from the names that the program sets.

It imports azure-core, so it is imported for stacks in Azure only.
"""
