"""Grades programming assignments: compares what students' functions return with recorded results.

Commands, one file each; those for authors and staff are in the folders below:

    cli.py           the command line: finds the assignment, and hands the rest to a command
    grade.py         the commands check, grade and report
    watch.py         the command watch: grade again on each save
    debug.py         the command debug: run a failing call in a debugger
    submit.py        the command submit: pack what is handed in, and grade the pack

The path of a submission, whose code runs in a sandbox's worker:

    settings.py      the settings of a grading, and the options that set them
    grading.py       one submission, from its path to its grade
    intake/          reads and inspects submissions in a process with limits, adds the given files
    program.py       what runs: the given files with a submission's, or the solution's
    session.py       a submission's exercises, in turn: what its code is asked, and what is judged
    sandbox/         where a submission's code runs: one interface, several tiers
    strictest.py     the strictest tier that a machine can provide
    worker/          the only code that runs next to a student's
    judging/         compares answers with references, and names the mistake
    result.py        outcomes, findings, grades, and the result model
    reports/         what people and other programs read, drawn from the result model

What an assignment is:

    folder.py        an assignment's folder: its parts, and how it is found and opened
    exercise.py      what an assignment is made of: exercises, probes, calls as data
    drawn.py         what an exercise's `draw` returns, checked
    literals.py      arguments of a call that private references replace
    task.py          exercises that are graded without probes, such as a training
    policy.py        what a submission may not call
    references.py    recorded answers, trusted if their digests match
    handout.py       the anchors of the handout's headings
    predictions.py   predictions for a leaderboard: their form, and how they are scored
    toolkit/         what the exercises and tasks of many assignments need

What is made of one, and of a class:

    authoring/       what makes an assignment: starter, references, mistakes, skeletons
    template/        the assignment that a new one begins with
    template_numpy/  the same without torch
    release/         what students get, and a check for what they must not get
    gradescope/      the autograder for Gradescope
    classroom/       grades a class
    viva/            questions about the code that was handed in, with computed answers
    docs/            pages for authors, and what each version changed for them

What all of these use:

    usage.py         how commands, options and errors are written in messages
    files.py         digests, atomic writes, safe reads of untrusted files, text between marks
    characters.py    characters that nobody sees, and safe names for messages
    zipped.py        reproducible zips
    wheel.py         this distribution as a wheel, for those who get an assignment
"""
