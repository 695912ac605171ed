"""Grades a class.

grade_class.py   from a folder of submissions to the gradebook
config.py        what staff write in OUT: the options of a class, and adjustments of points
platforms/       what each learning platform's files, lists, marks and feedback look like
people.py        the class list
find.py          what is in a folder, to whom it belongs, and which of several is graded
jobs.py          what worker processes do, on this machine or on a cluster
store.py         everything that was graded
entry.py         a student's line, from which all else is written:
gradebook.py, teach.py (both with counts.py), leaderboard.py, feedback.py, sheets.py, returned.py,
with templates/
"""
