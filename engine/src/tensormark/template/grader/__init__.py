"""What grades this assignment; assignment.py says what there is."""
