"""Grades a class.

grade_class.py   from a folder of submissions to the gradebook
config.py        what staff write in OUT: the options of a class, and adjustments of points
platforms/       what each learning platform's files, lists, marks and feedback look like
people.py        the class list
find.py          who handed in what, from a folder and the list:
upload.py        something that was handed in, as a platform describes it
owners.py        whose each upload is
choose.py        which of a student's uploads are graded
jobs.py          what worker processes do, on this machine or on a cluster
store.py         everything that was graded
entry.py         a student's line, from which all else is written:
gradebook.py, teach.py (both with counts.py), leaderboard.py, feedback.py, sheets.py, returned.py,
with templates/
"""
