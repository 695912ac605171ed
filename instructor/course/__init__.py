"""A class: everything in a folder is graded, every result is kept, and a gradebook is written.

hand_ins.py   who handed in what, from the names of bulk downloads or a roster
entry.py      a student's line of the gradebook: what all reports of a class are drawn from
"""
