"""Recovery in AWS: finds resources by name, tag or parent.

It imports boto3, so it is imported for stacks in AWS only.
"""
