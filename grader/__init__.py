"""The grader: takes a submission, returns a grade.

    __main__.py      the entry point: python -m grader SUBMISSION
    settings.py      the settings, and the command line that sets them
    watch.py         grades again on each save: python -m grader.watch
    grading.py       one submission, from its path to its grade
    session.py       runs the exercises in a sandbox, one after another, and has them judged
    observer.py      who is told how a grading goes on
    exercise.py      what an assignment is made of: exercises, probes, calls as data
    literals.py      arguments of a call that private references replace
    task.py          exercises that are graded otherwise, such as by a training
    references.py    recorded answers, trusted if their digests match
    selection.py     which exercises are run, and which are reported on
    handout.py       the anchors of the handout's headings
    result.py        outcomes, findings, grades, and the result model
    files.py         this repository's root, digests, atomic writes
    letters.py       which combining marks of a text are too many
    trouble.py       what the maintainers should know of an exception
    zipped.py        zips that depend on nothing but their files

    assignment/      everything specific to the subject; another assignment is another such folder
    intake/          reads and inspects submissions behind one door, lays out the given files
    sandbox/         where a submission's code runs: one interface, three tiers
    worker/          the only code that runs next to a student's
    judging/         compares answers with references, and names the mistake
    reports/         what people and other programs read, drawn from the result model

The path of a submission:
    __main__ -> settings -> grading -> intake -> session -> (sandbox -> worker) -> judging
        -> result -> reports
"""
