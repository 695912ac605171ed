"""A class: everything in a folder is graded, every result is kept, and a gradebook is written.

What the modules are for:
    hand_ins.py   who handed in what, from the names of bulk downloads or a roster
        file_names.py, gradescope_export.py   the names and lists that systems write
        roster.py, people.py   who is in the class, and who is who
        choice.py   which of several hand-ins is graded, and how late it is
    entry.py      a student's line of the gradebook: what all reports of a class are drawn from
"""
