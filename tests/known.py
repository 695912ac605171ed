"""What only staff have of this assignment: known mistakes and right code."""

from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import open_course

COURSE = open_course(ASSIGNMENT)
VARIANTS, HONEST = COURSE.variants, COURSE.honest
