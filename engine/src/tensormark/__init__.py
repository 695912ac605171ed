"""Grades programming assignments on neural networks: tensors compared with recorded references.

    cli.py           the command line: finds the assignment, and hands the rest to a command
    folder.py        an assignment's folder: its parts, and how it is found and opened
    usage.py         how commands, options and errors are written in messages
    settings.py      the settings of a grading, and the options that set them
    grade.py         the commands check, grade and report
    submit.py        the command submit: pack what is handed in, and grade the pack
    watch.py         the command watch: grade again on each save
    debug.py         the command debug: run a call that fails in a debugger
    grading.py       one submission, from its path to its grade
    session.py       its exercises, one after another: what is asked of its code, and what is judged
    program.py       what runs: the given files with a submission's, or the solution's
    strictest.py     the strictest tier that a machine can provide
    exercise.py      what an assignment is made of: exercises, probes, calls as data
    drawn.py         what an exercise's `draw` returns, checked
    policy.py        what a submission may not call
    literals.py      arguments of a call that private references replace
    predictions.py   predictions for a leaderboard: their form, and how they are scored
    task.py          exercises that are graded without probes, such as a training
    references.py    recorded answers, trusted if their digests match
    handout.py       the anchors of the handout's headings
    result.py        outcomes, findings, grades, and the result model
    files.py         digests, atomic writes, safe reads of untrusted files, text between marks
    characters.py    characters that nobody sees, and safe names for messages
    wheel.py         this distribution as a wheel, for those who get an assignment
    zipped.py        reproducible zips

    intake/          reads and inspects submissions in a process with limits, adds the given files
    sandbox/         where a submission's code runs: one interface, three tiers
    worker/          the only code that runs next to a student's
    judging/         compares answers with references, and names the mistake
    reports/         what people and other programs read, drawn from the result model
    toolkit/         what the exercises and tasks of many assignments need
    authoring/       what makes an assignment: starter, references, mistakes, skeletons
    template/        the assignment that a new one begins with
    template_numpy/  the same without torch
    release/         what students get, and a check for what they must not get
    classroom/       grades a class
    viva/            questions about the code that was handed in, with computed answers
    gradescope/      the autograder for Gradescope
    docs/            pages for authors, and what each version changed for them

The path of a submission:
    cli -> grade -> settings -> grading -> intake -> session -> (sandbox -> worker) -> judging
        -> result -> reports
"""
