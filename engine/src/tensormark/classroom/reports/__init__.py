"""What a class's results are written as.

gradebook.py  writes all of it
page.py, page_table.py    gradebook.html
feedback.py   what each student gets back
canvas.py     the instructor's own Canvas export, with one column filled in
returned.py, moodle.py    marks and feedback in the forms that Moodle and Canvas import
similar.py    groups of near-identical submissions
similar_page.py, evidence.py   similar.html, which compares two line by line
teach.py, lesson.py, anonymous.py, last_term.py   teach.html, which names nobody
"""
