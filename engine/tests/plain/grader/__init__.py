"""The grader of an assignment of plain functions."""
