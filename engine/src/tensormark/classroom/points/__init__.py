"""The final points.

ledger.py     each student's final points, and how they were computed
finals.py     every version of them, in the store
adjustments.py, late.py   the files of staff's changes and of the late penalty
written.py    what all sheets say about the answers to written questions
sheet.py, new_sheet.py    a sheet, and the command that writes one
rubric.py     the written questions
"""
