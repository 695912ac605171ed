"""Questions about one's own code, whose answers are computed by running it and changed copies.

subject.py     what an assignment declares about a function, in grader/viva.py: calls, and wording
source.py      a function as it stands in a submission, which is parsed within limits
study.py       what its lines compute with, and what changed copies of it do, run in a sandbox
families.py    the kinds of questions: what a line is the first to use, what a change does
draw.py        draws a sheet by a seed: the families take turns
question.py    questions, the functions that they are about, and sheets of them, as data
practice.py    the command viva: practise on one's own functions
sheet_page.py  practice as a page, sheets to print, and keys for staff; templates/
"""
