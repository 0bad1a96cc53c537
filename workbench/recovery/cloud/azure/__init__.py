"""What lost runs leave of a stack in Azure: found by its ARM id, since everything there has a name of our own.

azure-core comes with it, so it is imported only where such a stack is at hand.
"""
