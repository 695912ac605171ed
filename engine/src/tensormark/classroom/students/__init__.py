"""Who handed in what.

hand_ins.py   the hand-ins of a folder, from a roster or the file names of a bulk download
owners.py     to whom each belongs
roster.py     who is in the class
people.py     which names mean the same person
names.py      how staff may refer to a student
choice.py     which of several hand-ins is graded, and how late it is
upload.py     what platforms say of one file that was handed in:
    file_names.py, bulk_names.py, blackboard.py   by its name
    gradescope_export.py                          in a list beside it
"""
