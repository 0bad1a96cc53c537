"""What lost runs leave of a stack in AWS: found by name, by tag or by what it belongs to.

boto3 comes with it, so it is imported only where such a stack is at hand.
"""
