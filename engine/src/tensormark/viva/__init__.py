"""Questions about one's own code, whose answers are computed by running changed copies of it.

question.py   questions, the functions that they are about, and sheets of them, as data
"""
