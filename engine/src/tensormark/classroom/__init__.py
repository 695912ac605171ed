"""Grade a class: every hand-in in a folder, with all results kept, and write a gradebook.

A run:
    command.py    the command `class` and its exit status
    options.py    the command line
    run.py        from the folder of hand-ins to the gradebook
    appeal.py     regrades one student
    remembered.py what an appeal reuses from the previous run
    combination.py, earlier.py   protect results of other runs from being overwritten
    work.py       a submission as data to send, and the terms it is graded by
    standing.py   what is graded, what is left, and counts that add up
    store.py      every attempt, in one SQLite file
    rounds.py     runs all jobs of a kind: grading, or making questions
    engine.py     hands jobs to workers, and stores every answer before counting it
        progress.py   a bar, or one line per minute
        estimate.py   how long it will take
        crews.py      who grades: this process, or Dask's workers
        cluster.py    Dask's workers: which may grade, and how many submissions are in progress
        worker.py     what a worker does
        killed.py     the result of a submission that kills its workers
        parcel.py     references, checkpoint and data packed as bytes
        version.py    which grader and assignment a machine has
        failure.py    why a run cannot continue
Who handed in, and the results:
    hand_ins.py   who handed in what, from a roster or the file names of a bulk download
        file_names.py, gradescope_export.py   the names and lists that platforms write
        roster.py, people.py   who is in the class, and which names mean the same person
        choice.py   which of several hand-ins is graded, and how late it is
    ledger.py     each student's final points, and how they were computed
        adjustments.py, late.py   the files of staff's changes and of the late penalty
        typed.py   how files that staff give are read
        written.py, marks.py   what all sheets say about the answers to written questions
        sheet.py, new_sheet.py, rubric.py   a sheet, the command that writes one, and the questions
        names.py    how staff may refer to a student
        finals.py   every version of the final points, in the store
    entry.py      a student's line of the gradebook, from which all reports of a class are made
    gradebook.py  writes all the reports
        page.py, page_table.py, summary.py   gradebook.html and its counts
        teach.py, lesson.py, anonymous.py, last_term.py   teach.html, which names nobody
        feedback.py   what each student gets back
        canvas.py   the instructor's own Canvas export, with one column filled in
        returned.py, moodle.py   marks and feedback in the forms that Moodle and Canvas import
    viva.py       questions about students' own code, and the sheets that hold them
        viva_sheets.py, viva_marks.py, viva_answers.py   what is written, and what comes back
    similar.py    groups of near-identical submissions
        evidence.py, similar_page.py   similar.html, which compares two line by line
"""
