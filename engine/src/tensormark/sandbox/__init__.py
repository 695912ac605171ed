"""Where a submission's code runs: tiers behind one interface.

    contained   a container, with a locked-down process for each exercise: for untrusted code
    locked      the same processes without a container, if none is available
    process     a plain process, on any system: for your own code only

tiers.py lists them, run_job.py says what each covers and does not cover, and docs/isolation.md what
it needs. If a tier is not available, an error says what is missing: the grader never falls back to
another tier.
"""
