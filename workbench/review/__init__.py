"""The review of a change: what it makes of every stack that it affects, judged by the branch that it goes to."""
