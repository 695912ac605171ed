"""The parts of this assignment that only staff have: known mistakes and right code."""

from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import open_course

COURSE = open_course(ASSIGNMENT)
VARIANTS = COURSE.variants
HONEST = COURSE.honest
