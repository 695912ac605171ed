"""Grading by several workers, with every result kept.

rounds.py     runs all jobs of a kind: grading, or making questions
engine.py     hands jobs to workers, and stores every answer before counting it
store.py      every attempt, in one SQLite file
progress.py   a bar, or one line per minute
estimate.py   how long it will take
crews.py      who grades: this process, or Dask's workers
cluster.py    Dask's workers: which may grade, and how many submissions are in progress
work.py       a submission as data to send, and the terms it is graded by
parcel.py     references, checkpoint and data packed as bytes
worker.py     what a worker does
killed.py     the result of a submission that kills its workers
version.py    which grader and assignment a machine has
"""
