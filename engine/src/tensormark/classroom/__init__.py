"""A class: everything in a folder is graded, every result is kept, and a gradebook is written.

A run:
    command.py    the command `class`, and the exit status
    options.py    the command line
    run.py        from the folder with the hand-ins to the gradebook
    appeal.py     one student again
    remembered.py what an appeal takes from the run before
    combination.py, earlier.py   no class is overwritten: what results are of, and where old go
    work.py       a submission as data that travels, and the terms it is graded by
    standing.py   what is graded, what is left, and counts that add up
    store.py      every attempt, in one SQLite file
    rounds.py     has all jobs of a kind done, to grade or to ask
    engine.py     hands jobs to workers, and keeps every answer before it counts
        progress.py   a bar, or a line a minute
        estimate.py   how long it will take
        crews.py      who grades: this process, or Dask's workers
        cluster.py    Dask's workers: which may grade, and how many submissions are under way
        worker.py     what a worker does
        killed.py     the result of what ends its workers
        parcel.py     references, checkpoint and data as bytes that travel
        version.py    which grader and assignment a machine has
        failure.py    why a run cannot go on
Who handed in, and the results:
    hand_ins.py   who handed in what, from the names of bulk downloads or a roster
        file_names.py, gradescope_export.py   the names and lists that systems write
        roster.py, people.py   who is in the class, and who is who
        choice.py   which of several hand-ins is graded, and how late it is
    ledger.py     what each student gets in the end, and how it came about
        adjustments.py, late.py   the files with what staff have changed, and what lateness costs
        typed.py   such a file, as it is read
        written.py, marks.py   what all sheets say of the answers to written questions
        sheet.py, new_sheet.py, rubric.py   a sheet, the command that writes one, and the questions
        names.py    what staff call a student in a file
        finals.py   every version of it, in the store
    entry.py      a student's line of the gradebook: what all reports of a class are drawn from
    gradebook.py  writes all of them
        page.py, page_table.py, summary.py   gradebook.html, and what it counts
        teach.py, lesson.py, anonymous.py, last_term.py   teach.html, which names nobody
        feedback.py   what each student gets back
        canvas.py   the instructor's own export of Canvas, with one column filled
        returned.py, moodle.py   marks and feedback, as Moodle and Canvas take them back
    viva.py       questions on students' own code, and the sheets that they are kept as
        viva_sheets.py, viva_marks.py, viva_answers.py   what is written, and what comes back
    similar.py    groups of near-identical submissions
        evidence.py, similar_page.py   similar.html, where two are alike line by line
"""
