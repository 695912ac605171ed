"""Grade a class: every hand-in in a folder, with all results kept, and write a gradebook.

    command.py    the command `class` and its exit status
    options.py    the command line
    run.py        from the folder of hand-ins to the gradebook
    appeal.py     regrades one student
    remembered.py what an appeal reuses from the previous run
    combination.py, earlier.py   protect results of other runs from being overwritten
    students/     who handed in what
    jobs/         grading by several workers, with every result kept
    points/       the final points: changes, late penalties, marks for written questions
    reports/      the gradebook, and what goes back to students and platforms
    viva/         questions about students' own code
What they share:
    entry.py      a student's line of the gradebook, from which all reports of a class are made
    marks.py      its marks for written questions
    summary.py    counts of such lines
    standing.py   what is graded, what is left, and counts that add up
    typed.py      how files that staff give are read
    failure.py    why a run cannot continue
"""
