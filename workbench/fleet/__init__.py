"""Runs a command on many stacks in waves, as processes of the command line itself, and continues after a kill.

``model`` and ``file`` read which stacks run in which order, ``record`` keeps what has ended, ``runner`` runs the rest,
``child`` is one process, ``report`` shows the result.
"""
