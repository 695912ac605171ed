"""Questions about one's own code, whose answers are computed by running changed copies of it.

subject.py    what an assignment declares about a function, in grader/viva.py: calls, and wording
pokes.py      changes to a call's inputs, for facts and situations
source.py     a function's text, and single changes to it at the nodes of its syntax tree
edits.py      what its expressions and statements may become
copies.py     runs copies of a submission's modules in a sandbox
plain.py      whether a function's text decides what it does
sameness.py   whether tensors are the same
study.py      what changed copies of a function do, compared with the unchanged function
family.py     what the kinds of questions share; families/ has a class for each kind
draw.py       draws a sheet by a seed: the families in turn, each question confirmed
question.py   questions, the functions that they are about, and sheets of them, as data
command.py    the command viva: practise on one's own functions
texts.py      texts of questions as markup, and code with line numbers
page.py       practice as a page, and sheets to print; picture.py: numbers beside an explanation
terminal.py   practice on a terminal
"""
