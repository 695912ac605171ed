"""Questions about students' own code.

sheets.py     the questions that each student gets
pages.py      the files that staff give out and keep
exports.py    the answers, as Canvas and Moodle export them
marks.py      what they are worth
"""
