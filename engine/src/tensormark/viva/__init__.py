"""Questions about one's own code, whose answers are computed by running changed copies of it.

subject.py    what an assignment declares about a function, in grader/viva.py: calls, and wording
edits.py      a function's text, and single changes to a line of it
study.py      what changed copies of a function do, run in a sandbox and compared with the function
families.py   the kinds of questions: which line is the first, what a change does
draw.py       draws a sheet by a seed: the families take turns
question.py   questions, the functions that they are about, and sheets of them, as data
command.py    the command viva: practise on one's own functions
page.py       practice as a page, sheets to print, and keys for staff; templates/
"""
