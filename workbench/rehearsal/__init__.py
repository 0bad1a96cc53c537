"""Rehearsal: simulated work on the simulated cluster of a stack file.

``scenario`` says what happens and what is expected, ``cluster`` builds the stack's cluster as simulated nodes on a
real control plane, ``play`` sends the work and the events and records what the API server reports, ``verdicts``
judges the record, ``report`` shows it. ``replay`` creates scenarios from recordings of other clusters, ``advice``
searches for a change of the stack file that meets missed expectations.
"""
