"""Where a submission's code runs: three tiers behind one interface.

    contained   a container, and in it a locked-down process for each exercise: for strangers' code
    locked      the same process without the container, where none is to be had
    process     a plain process, on any system: for one's own code only

What each covers and what it does not is said in isolated.py and process.py, with figures in
SECURITY.md. A tier that the machine cannot give is an error that says what is missing: nothing
steps down to another tier by itself.
"""
