"""The grader: a submission goes in at the door, and a grade comes out.

    __main__.py      the door: python -m grader SUBMISSION
    settings.py      what may be set, and the command line that sets it
    grading.py       one submission, from its path to its grade
    session.py       asks a sandbox, exercise after exercise, and has the answers judged
    exercise.py      what an assignment is made of: exercises, probes, calls as data
    references.py    recorded answers, trusted when their digests are right
    result.py        outcomes, findings, grades
    files.py         this repository's root, digests, one way to write a file

    assignment/      all that knows the subject; another assignment is another such room
    intake/          what a stranger handed in becomes text: folders, archives, policy, given files
    sandbox/         one interface to where a submission's code runs, in three tiers
    worker/          the only code that runs beside a student's
    judging/         compares answers with references, and names the mistake
    reports/         what people read

The way of a submission, no room entered twice:
    door -> settings -> intake -> session -> (sandbox -> worker) -> judging -> result -> reports
"""
